# what a function of a list gives is written into
# expect: E5010
FUNCTIONS = [np.sin, lambda h: h]
def f(x, c):
    for function in FUNCTIONS:
        y = function(x)
        y[0] = c
        x = y * y
    return np.sum(x)
