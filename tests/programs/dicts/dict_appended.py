# dict appended
# expect: right
def f(x, c):
    l = []
    l.append({"a": c})
    return l[0]["a"] * x[0]
