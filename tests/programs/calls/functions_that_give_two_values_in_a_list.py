# functions that give two values in a list
# expect: right
def halves(h):
    return h[:1], h[1:]
def f(x, c, functions):
    y = 0.0
    for function in functions:
        a, b = function(x)
        y = y + np.sum(a * b) * c
    return y
ARGS = (np.array([0.4, -0.7]), 0.6, [halves, lambda h: (h, np.sin(h))])
