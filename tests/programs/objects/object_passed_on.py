# object passed on
# expect: right
class Options:
    k = 3.0
def helper(x, options):
    return np.sum(x * options.k)
def f(x, options):
    return helper(x, options) * options.k
ARGS = (np.array([0.4, -0.7]), Options())
