# a function of a list that gives complex numbers
# expect: E5031
def f(x, c, functions):
    for function in functions:
        y = np.abs(function(x))
    return np.sum(y) * c
ARGS = (np.array([0.4, -0.7]), 0.6, [np.sin, lambda h: h * 1j])
