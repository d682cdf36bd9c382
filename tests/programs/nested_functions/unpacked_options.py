# unpacked options
# expect: right
def f(x, c):
    options = dict(axis=0, keepdims=True)
    weights = {"a": x[0] * c, "b": x[1]}
    def product(a, b, k):
        return a * b + k
    return product(**weights, k=weights["a"]) * np.sum(x, **options)[0]
