# three change places and multiply
# expect: right
def f(a, b, c):
    for i in range(2):
        a, b, c = b, c, a
        a = a * b
    return np.sum(a * c)
ARGS = (np.array([0.3, 0.4]), 0.7, 0.6)
