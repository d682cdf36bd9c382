# dict comprehension over itself
# expect: right
def f(x, c):
    rates = {"a": x[0], "b": c}
    for _ in range(2):
        rates = {name: rates[name] * 2.0 + 0.1 * x[1] for name in rates}
    total = 0.0
    for name in rates:
        total = total + rates[name] * rates["a"]
    return total + rates["b"]
