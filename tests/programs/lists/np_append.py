# np.append
# expect: right
def f(x, c):
    y = np.array([])
    for i in range(3):
        y = np.append(y, c * x[i])
    return np.sum(y * y)
