# an item of a list that is multiplied in place, read by nothing but its own adjoint
# expect: right
def f(x, c):
    a = np.sin(x)
    l = [np.sum(a * x), c]
    k = 0
    while k < 3 and a[k] < 2.0:
        k += 1
        for r in x:
            l[-1] *= a[k]
    return l[-1]
