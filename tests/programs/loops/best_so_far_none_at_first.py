# best so far, None at first
# expect: right
def f(x, c):
    best = None
    for v in x:
        if best is None or v > best:
            best = v
    return best * c
