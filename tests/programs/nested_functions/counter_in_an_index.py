# counter in an index
# expect: right
def f(x, c):
    n = 0
    def nxt():
        nonlocal n
        n = n + 1
        return n
    a = x * c
    a[nxt()] = c
    a[nxt()] = c * c
    return np.sum(a * x) * n
