# an item of a list of numbers changes, and one branch binds the name to another list
# expect: right
def f(x, c):
    c[0] += c[0] * x[0]
    if x[1] > 0:
        c = [0.5 * item for item in c]
    return np.sum(x) * c[0]


ARGS = np.array([0.31, 0.47]), [0.4, 1.1]
