# an element of what append gives is written into: what was appended has the rest of the mask, and each part its own
# expect: right
def f(x, c):
    z = np.append(x * c, x)
    z[0] = 3.0
    both = np.append(x[:, None] * c, x[:, None] ** 2, axis=1)
    both[1] = c
    return np.sum(z * z) + np.sum(both**3)
