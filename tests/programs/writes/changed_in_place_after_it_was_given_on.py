# an array changed in place in a loop after it was put into a list, where only some trips make a new one
# expect: right
def f(x, c):
    kept, w = [], x * c
    for k in range(4):
        if k == 2:
            w = x * k
        w -= w.mean() * c
        kept.append(w)
    return np.sum(kept[0] * kept[1] * kept[3])
