# a function of a list that gives complex numbers
# expect: E5031
FUNCTIONS = [np.sin, lambda h: h * 1j]
def f(x, c):
    for function in FUNCTIONS:
        y = np.abs(function(x))
    return np.sum(y) * c
