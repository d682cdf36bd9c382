# functions that give two values in a list
# expect: right
def halves(h):
    return h[:1], h[1:]
FUNCTIONS = [halves, lambda h: (h, np.sin(h))]
def f(x, c):
    y = 0.0
    for function in FUNCTIONS:
        a, b = function(x)
        y = y + np.sum(a * b) * c
    return y
