# 0-d argument
# expect: E5010
def f(a, c):
    a += c
    return a * a
ARGS = (np.array(1.3), 0.6)
