# walrus where it may not be evaluated
# expect: right
def f(x, c):
    total = 0.0
    for v in x:
        if v > 0.0 and (w := np.sin(v)) > 0.35:
            total += w
        elif not (v > 0.0 or (u := v * c) > 0.0):
            total -= u * v
    k = 0
    while k < 4 and (held := x[k] * c) < 0.5:
        total += held
        k += 1
    return total + sum(d * d for v in x if v > -0.5 and (d := np.exp(v)) > 1.4)
