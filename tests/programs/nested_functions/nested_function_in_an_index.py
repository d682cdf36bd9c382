# nested function in an index
# expect: right
def idx(k):
    return 0
def f(x, c):
    def idx(k):
        return k + 1
    a = x * c
    a[idx(0)] = c
    a[idx(1):idx(2)] += c
    return np.sum(a * x)
