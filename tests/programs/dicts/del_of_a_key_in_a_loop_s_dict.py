# del of a key in a loop's dict
# expect: right
def f(x, c):
    d = {}
    for i in range(3):
        d[i] = x[i] * c
    d["s"] = c
    del d[0]
    return sum(d.values())
