# a write into what np.ravel gives, which a function inside still reads by another name
# expect: E5010
def f(x, c):
    def rest():
        return np.sum(x**2)

    b = np.ravel(x)
    b[0] = b[1] * c
    return rest()
