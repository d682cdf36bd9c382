# fun param
# expect: right
def f(x, c, h):
    return np.sum(h(x, c)) * h(c, c)
ARGS = (np.array([0.4,-0.7,1.2,0.3]), 0.6, lambda a, b: np.sin(a) * b)
