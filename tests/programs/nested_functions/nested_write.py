# nested write
# expect: right
def f(x, c):
    a = np.zeros(4)
    def put(i, v):
        a[i] = v
    for i in range(4):
        put(i, x[i] * c)
    return np.sum(a * a)
