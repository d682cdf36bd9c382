# else of a test with a walrus leaves the outer loop
# expect: right
def f(x, c):
    s = 0.0
    for k in range(3):
        i = 0
        while (t := x[i] * c * (k + 1)) < 0.7 and i < 3:
            s += t * t
            i += 1
            if s > 0.9:
                break
        else:
            s *= 1.5
            if t > 2.0:
                continue
            if k == 1:
                break
        s += t * x[k]
    return s
