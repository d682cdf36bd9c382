# array and float change places
# expect: right
def f(a, b):
    for i in range(3):
        a, b = b, a * b
    return np.sum(a * b)
ARGS = (np.array([0.3, 0.4]), 0.7)
