# None in a function that stands in another
# expect: right
def f(x, c, s=None):
    def scaled(v, scale=None):
        if scale is None:
            scale = 1.5 if s is None else s
        return v * scale
    return np.sum(scaled(x) * scaled(x, c))
