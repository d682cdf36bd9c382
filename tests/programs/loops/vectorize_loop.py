# vectorize loop
# expect: right
def f(x, c):
    for _ in range(3):
        x = x + c * np.array([x[1] * x[2], x[0], x[1], x[3]])
    return np.sum(x)
