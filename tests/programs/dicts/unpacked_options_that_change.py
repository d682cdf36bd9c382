# unpacked options that change
# expect: E5005
def product(a, b):
    return a * b
def f(x, c):
    options = {"a": x[0]}
    options["b"] = c
    return product(**options)
