# a partial application chosen by a branch
# expect: right
CHOICES = [np.tanh, functools.partial(np.multiply, 3.0)]
def f(x, c, choices=CHOICES):
    act = choices[0] if c > 0.0 else choices[1]
    y = act(x)
    act = choices[-1]
    return np.sum(act(y)) * c
