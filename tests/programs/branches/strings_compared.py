# strcmp
# expect: right
def f(x, c, mode="sq"):
    if mode == "sq":
        return c * c * x[0]
    elif mode is None:
        return c
    return x[0]
