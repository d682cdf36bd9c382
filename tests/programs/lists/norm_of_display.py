# norm of display
# expect: right
def f(x, c):
    return np.linalg.norm([c, x[0]])
