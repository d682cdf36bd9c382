# append array
# expect: right
def f(x, c):
    out = [c]
    for i in range(3):
        out.append(out[-1] * x[i])
    return np.sum(np.array(out))
