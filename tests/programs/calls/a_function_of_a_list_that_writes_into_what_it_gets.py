# a function of a list that writes into what it gets
# expect: E5032
def doubled(h):
    h *= 2.0
    return h
FUNCTIONS = [np.sin, doubled]
def f(x, c):
    for function in FUNCTIONS:
        x = function(x)
    return np.sum(x) * c
