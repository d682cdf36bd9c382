# nonlocal
# expect: right
def f(x, c):
    total = 0.0
    def add(v):
        nonlocal total
        total = total + v * c
    for i in range(3):
        add(x[i])
    return total
