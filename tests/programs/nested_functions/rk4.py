# rk4
# expect: right
def rk4(f, y, t, h):
    k1 = f(y, t)
    k2 = f(y + h / 2 * k1, t + h / 2)
    return y + h * (k1 + k2) / 2
def f(x, c):
    def rhs(y, t):
        return -c * y + np.sin(t)
    y = x
    for i in range(3):
        y = rk4(rhs, y, i * 0.1, 0.1)
    return np.sum(y * y)
