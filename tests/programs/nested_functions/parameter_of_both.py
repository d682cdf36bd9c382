# a list that a nested function changes by a parameter named like one of the outer function
# expect: right
ARGS = (0.7, [1.0, 2.0])


def f(s, a):
    def add(a, b):
        a[-1] *= b[0]
        a.append(b[0])

    b = [s * k for k in (1.0, 2.0)]
    add(b, a)
    a = np.array(a) * s
    return b[-1] * b[0] + b[1] + np.sum(a)
