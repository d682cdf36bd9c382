# a function chosen by a branch
# expect: right
def own(h):
    return h * np.sin(h)
def f(x, c, n=3):
    act = own if n > 1 else np.tanh
    y = act(x)
    if n > 2:
        act = np.exp
    return np.sum(act(y)) * c
