# list append view changes
# expect: right
def f(x, c):
    u = x.copy()
    hs = []
    for i in range(3):
        hs.append(u)
        u[0] = u[1] * c
    return np.sum(hs[0])
