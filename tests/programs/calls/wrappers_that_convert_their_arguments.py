# wrappers that convert their arguments
# expect: right
def as_arrays(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        args = list(args)
        for i, v in enumerate(args):
            if v is not None:
                args[i] = np.asarray(v)
        for k, v in kwargs.items():
            if v is not None:
                kwargs[k] = np.asarray(v)
        return function(*args, **kwargs)
    return wrapper
def scaled(places):
    def decorate(function):
        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            return function(*[a * 0.5 if i in places else a for i, a in enumerate(args)], **kwargs)
        return wrapper
    return decorate
@as_arrays
def energy(v, m, axis=None):
    return np.sum(m * v**2, axis=axis)
@scaled([1])
def swing(v, k):
    return np.sum(np.sin(k * v))
def f(x, c):
    return energy(x, c, axis=0) + energy(x[1:], 2.0) + swing(x, c)
