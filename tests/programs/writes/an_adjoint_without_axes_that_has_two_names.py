# an adjoint without axes that has two names
# expect: right
def f(x, c):
    a = x + x
    v = a * 0.5
    a[0] -= np.tanh(a[0] * c) * 1.23
    c = c + 0.2 * np.sum(v * v)
    b = a * x
    b[0] *= max(c, 0.123)
    return np.sum(a * b)
