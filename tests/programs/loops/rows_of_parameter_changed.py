# rows of parameter changed
# expect: E5010
def f(ws, c):
    for w in ws:
        w *= c
    return np.sum(ws[0])
ARGS = ([np.array([1.0, 2.0])], 0.5)
