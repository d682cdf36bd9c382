# array item -=
# expect: E5010
def f(x):
    l = [x * 2.0]
    y = l[0]
    l[0] -= x
    return np.sum(y * l[0])
ARGS = (np.array([1.0, 2.0]),)
