# swap three
# expect: right
def f(x, c):
    old, now, new = x.copy(), x * c, np.zeros(4)
    for i in range(4):
        new[1:-1] = 2 * now[1:-1] - old[1:-1] + c * np.sin(now[2:] * now[:-2])
        new[0] = now[0] * c
        old, now, new = now, new, old
    return np.sum(now * now) + old[1]
