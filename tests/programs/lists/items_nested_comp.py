# items nested comp
# expect: right
def f(x, c):
    m = [[x[i] * x[j] for j in range(3)] for i in range(3)]
    a = np.array(m)
    return np.sum(a @ a) * c
