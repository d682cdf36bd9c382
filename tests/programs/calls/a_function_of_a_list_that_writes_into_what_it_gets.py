# a function of a list that writes into what it gets
# expect: E5032
def doubled(h):
    h *= 2.0
    return h
def f(x, c, functions):
    for function in functions:
        x = function(x)
    return np.sum(x) * c
ARGS = (np.array([0.4, -0.7]), 0.6, [np.sin, doubled])
