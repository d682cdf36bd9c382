# list early
# expect: right
def f(x, c):
    out = []
    for i in range(4):
        if x[i] < 0:
            continue
        out.append(x[i] * c)
        if len(out) == 2:
            break
    return sum(out)
