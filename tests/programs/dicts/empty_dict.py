# empty dict()
# expect: right
def f(x, c):
    p = dict()
    p["w"] = c * x
    return np.sum(p["w"] ** 2)
