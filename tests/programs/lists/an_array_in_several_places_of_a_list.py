# an array that a loop puts into a list again and again, and that changes in one of its places
# expect: E5010
def f(x, c):
    w, kept = x * c, []
    for k in range(3):
        kept.append(w)
    kept[0] *= 2.0
    return np.sum(kept[1] * kept[2])
