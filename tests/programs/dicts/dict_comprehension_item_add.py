# dict comprehension item +=
# expect: right
def f(x, c):
    d = {k: x[k] for k in range(3)}
    d[1] += c * d[0]
    return d[1] * d[2]
