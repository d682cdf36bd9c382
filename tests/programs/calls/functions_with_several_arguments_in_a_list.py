# functions with several arguments in a list
# expect: right
FUNCTIONS = [lambda a, b: a * b, lambda a, b=2.0: a * a + np.sin(b)]
def f(x, c):
    y = 0.0
    for function in FUNCTIONS:
        y = y + np.sum(function(x, c) * function(c, b=x))
    return y
