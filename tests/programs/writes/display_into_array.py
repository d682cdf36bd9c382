# display into array
# expect: right
def f(x):
    a = np.zeros(2)
    a[:] = [x[0], 3.0 * x[1]]
    return np.sum(a * a)
ARGS = (np.array([1.0, 2.0]),)
