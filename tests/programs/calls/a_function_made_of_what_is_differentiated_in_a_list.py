# a function made of what is differentiated in a list
# expect: right
def f(x, c):
    functions = [functools.partial(np.multiply, c), np.tanh]
    for function in functions:
        x = function(x)
    return np.sum(x)
