# argmax loop
# expect: right
def f(x, c):
    best = x[0]
    where = 0
    for i in range(1, 4):
        if x[i] <= best:
            continue
        best = x[i]
        where = i
    return best * c + x[where]
