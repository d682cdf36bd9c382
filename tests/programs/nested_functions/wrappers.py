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
def slowed(function):
    @functools.wraps(function)
    def wrapper(t, u=0.5, **options):
        return function(t * u, u, **options)
    return wrapper
@slowed
@slowed
def bent(t, u=0.5, k=2):
    return t**k * u
def told(*args, **options):
    options["stacklevel"] = options.get("stacklevel", 2)
    print(*args, end="")
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
    if c > 50.0:
        told("large", stacklevel=3)
    return np.sum(sine(x, k=c) * square(x) * bent(x, k=3) * bent(x, c)) * cube(c)
