# callee gives a list
# expect: right
def scaled(ws, x):
    return [w * x for w in ws]
def f(x, ws):
    y = scaled(ws, x)
    s = 0.0
    for w in y:
        s = s + np.sum(w)
    return s * np.sum(y[0])
ARGS = (0.3, [np.array([0.5, 0.2]), np.ones((2, 2))])
