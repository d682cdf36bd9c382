# wrappers
# expect: right
import time
def timed(function):
    calls = []
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        start = time.perf_counter()
        with np.errstate(all="ignore"):
            result = function(*args, **kwargs)
        print(end="")
        calls.append(time.perf_counter() - start)
        return result
    return wrapper
def scaled(k):
    def around(function):
        @functools.wraps(function)
        def wrapper(t):
            return k * function(t)
        return wrapper
    return around
@timed
def sine(t, k=2.0):
    return np.sin(k * t)
@scaled(3.0)
def square(t):
    return t * t
@functools.lru_cache
def cube(t):
    return t**3
@timed
def f(x, c):
    return np.sum(sine(x, k=c) * square(x)) * cube(c)
