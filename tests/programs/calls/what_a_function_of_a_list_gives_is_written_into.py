# what a function of a list gives is written into
# expect: E5010
def f(x, c, functions):
    for function in functions:
        y = function(x)
        y[0] = c
        x = y * y
    return np.sum(x)
ARGS = (np.array([0.4, -0.7]), 0.6, [np.sin, lambda h: h])
