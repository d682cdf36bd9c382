# rows of an array that changes places
# expect: E5010
def f(x, c):
    a = np.sin(x)
    b = np.cos(x)
    for row in a:
        a, b = b, a
        a[1] *= row
    return np.sum(a * b)
