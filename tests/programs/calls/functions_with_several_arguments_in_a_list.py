# functions with several arguments in a list
# expect: right
def f(x, c, functions):
    y = 0.0
    for function in functions:
        y = y + np.sum(function(x, c) * function(c, b=x))
    return y
ARGS = (np.array([0.4, -0.7]), 0.6, [lambda a, b: a * b, lambda a, b=2.0: a * a + np.sin(b)])
