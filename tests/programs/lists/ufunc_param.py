# ufunc param
# expect: right
def f(x, c, h):
    return np.sum(h(x)) * h(c)
ARGS = (np.array([0.4,-0.7,1.2,0.3]), 0.6, np.tanh)
