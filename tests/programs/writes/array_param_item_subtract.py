# array param item -=
# expect: E5010
def f(ps, c):
    ps[0] -= c * ps[0]
    return np.sum(ps[0])
ARGS = ([np.array([1.0, 2.0])], 0.5)
