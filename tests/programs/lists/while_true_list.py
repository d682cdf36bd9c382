# while True list
# expect: right
def f(x, c):
    vals = [c]
    while True:
        vals.append(vals[-1] * 0.5 + x[0])
        if len(vals) > 4:
            break
    return vals[2] * vals[4]
