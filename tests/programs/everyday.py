"""Programs with the signatures and statements of ordinary users: star arguments, decorators, exceptions, generators.

`EVERYDAY` has each with its arguments; `REFUSED` has the codes of those that cannot be differentiated.
"""

# They are written as users write them.
# ruff: noqa: B905, C416, C417, N818, RET503, RUF007
from __future__ import annotations

import contextlib
import functools
import itertools
import logging
import math
import operator
import threading
import time
import warnings
from dataclasses import dataclass

import numpy as np

log = logging.getLogger(__name__)
EVERYDAY: list[tuple] = []


def ordinary(*arguments, words=None):
    """Enter a function with the arguments that it is called with."""

    def enter(function):
        EVERYDAY.append((function, arguments, words or {}))
        return function

    return enter


A = np.array([0.7, 1.3, 0.4])
B = np.array([0.2, -0.6, 1.1])


# -- signatures: stars ------------------------------------------------------------------------------------------------
@ordinary(0.7, 1.3, 0.4)
def star_product(*xs):
    total = 1.0
    for x in xs:
        total = total * (1.0 + x)
    return total


@ordinary(0.7, 1.3, 0.4)
def star_after_one(x, *others):
    return x * sum(others) + len(others)


@ordinary(A, 0.3, 0.5)
def star_polynomial(x, *coefficients, scale=2.0):
    y = 0.0
    for k, c in enumerate(coefficients):
        y = y + c * x**k
    return scale * np.sum(y)


@ordinary(0.7, words={"scale": 2.0, "shift": 0.5})
def with_options(x, **options):
    return x * x * options["scale"] + options.get("shift", 0.0)


@ordinary(0.7, words={"power": 3})
def with_options_default(x, **kwargs):
    power = kwargs.get("power", 2)
    scale = kwargs.pop("scale", 1.5)
    return scale * x**power


@ordinary(0.7, 0.3, words={"scale": 2.0})
def star_and_options(*args, **kwargs):
    a, b = args
    return a * b * kwargs["scale"]


def weighted(x, w=1.0, *, power=2.0, shift=0.0):
    return w * x**power + shift


@ordinary(0.7, 0.4)
def passes_options(x, w):
    return weighted(x, w, power=3.0) + weighted(x, shift=w)


@ordinary(0.7, 0.4)
def passes_star(x, w):
    args = (x, w)
    kwargs = {"power": 3.0, "shift": x}
    return weighted(*args, **kwargs)


def forward(*args, **kwargs):
    return weighted(*args, **kwargs) * 0.5


@ordinary(0.7, 0.4)
def through_a_forwarder(x, w):
    return forward(x, w, shift=w) + forward(x, power=3.0)


def norm_of(*components):
    return np.sqrt(sum(c * c for c in components))


@ordinary(0.7, 0.4, 1.2)
def callee_with_star(x, y, z):
    return norm_of(x, y) + norm_of(x, y, z)


def model(x, **parameters):
    return parameters["a"] * np.sin(parameters["b"] * x)


@ordinary(0.7, 0.4, 1.2)
def callee_with_options(x, a, b):
    return model(x, a=a, b=b) + model(x=x, b=a, a=b)


@ordinary(A, (0.3, 0.5))
def star_of_an_argument(x, theta):
    return np.sum(weighted(x, *theta[:1]))


@ordinary(A, {"power": 3.0, "shift": 0.5})
def options_of_an_argument(x, options):
    return np.sum(weighted(x, **options))


@ordinary(A, 0.5)
def keyword_only(x, *, rate=0.3):
    return np.sum(rate * x**2)


EVERYDAY[-1] = (keyword_only, (A,), {"rate": 0.5})


@ordinary(A, B)
def starred_display(x, y):
    parts = [*x, *y]
    return sum(p * p for p in parts)


@ordinary(A)
def starred_assignment(x):
    first, *rest = x
    return first * sum(rest)


@ordinary((0.3, 0.4, 0.7))
def starred_middle(theta):
    a, *b, c = theta
    return a * c + sum(b) * a


@ordinary(0.3, 0.7)
def merged_options(x, w):
    defaults = {"w": 1.0, "power": 2.0}
    options = {**defaults, "w": w}
    return weighted(x, **options)


# -- signatures: decorators -------------------------------------------------------------------------------------------
def validated(function):
    @functools.wraps(function)
    def wrapper(x, *args, **kwargs):
        x = np.asarray(x)
        if not np.all(np.isfinite(x)):
            raise ValueError("not finite")
        return function(x, *args, **kwargs)

    return wrapper


@ordinary(A, 0.5)
@validated
def decorated(x, w):
    return np.sum(w * x**2)


def scaled(factor):
    def decorate(function):
        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            return factor * function(*args, **kwargs)

        return wrapper

    return decorate


@scaled(3.0)
def cubic(x, power=3.0):
    return x**power


@ordinary(0.7)
def calls_decorated(x):
    return cubic(x) + cubic(x, power=2.0)


@ordinary(0.7)
@scaled(2.0)
@scaled(0.5)
def decorated_twice(x):
    return np.sin(x)


def timed(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        start = time.perf_counter()
        result = function(*args, **kwargs)
        log.debug("%s took %g s", function.__name__, time.perf_counter() - start)
        return result

    return wrapper


@timed
def slow(x):
    return np.sum(np.tanh(x))


@ordinary(A)
def calls_timed(x):
    return slow(x) ** 2


@ordinary(A)
@timed
def timed_itself(x):
    return np.sum(np.tanh(x))


@functools.cache
def factor(n):
    return 1.0 if n == 0 else n * factor(n - 1)


@ordinary(0.7, 4)
def series_of_exp(x, n):
    return sum(x**k / factor(k) for k in range(n))


def require_positive(function):
    def checked(x):
        if x <= 0.0:
            raise ValueError(f"{function.__name__}: {x} is not positive")
        return function(x)

    return checked


@require_positive
def log_of(x):
    return np.log(x)


@ordinary(0.7)
def validator_by_hand(x):
    return log_of(x) * x


@ordinary(0.7)
@np.vectorize
def vectorised(x):
    return x * x


EVERYDAY[-1] = (vectorised, (0.7,), {})


# -- helpers ----------------------------------------------------------------------------------------------------------
def check_shapes(a, b):
    if np.shape(a) != np.shape(b):
        raise ValueError(f"shapes {np.shape(a)} and {np.shape(b)}")


@ordinary(A, B)
def validates(a, b):
    check_shapes(a, b)
    return np.sum(a * b)


@ordinary(0.7)
def overload_by_isscalar(x):
    if np.isscalar(x):
        x = np.array([x])
    return np.sum(x**2)


@ordinary(A)
def overload_by_isinstance(x):
    if isinstance(x, (int, float)):
        return x * x
    if isinstance(x, (list, tuple)):
        x = np.array(x)
    return np.sum(x**2)


@ordinary([0.3, 0.4])
def overload_by_isinstance_of_a_list(x):
    if isinstance(x, (list, tuple)):
        x = np.array(x)
    return np.sum(x**2)


@ordinary(A)
def logs(x):
    log.info("x has %d elements", x.size)
    if np.any(x < 0.0):
        warnings.warn("negative elements", stacklevel=2)
    print("", end="")
    return np.sum(np.sqrt(x))


@ordinary(A)
def times(x):
    start = time.time()
    y = np.sum(x**3)
    elapsed = time.time() - start
    log.debug(f"took {elapsed:.3f} s")
    return y


def progress(items):
    for number, item in enumerate(items):
        if number % 10 == 0:
            log.debug("%d", number)
        yield item


@ordinary(A)
def progress_bar(x):
    total = 0.0
    for v in progress(x):
        total += v * v
    return total


def centred(a):
    a -= a.mean()
    return a


@ordinary(A)
def helper_in_place(x):
    a = x.copy()
    return np.sum(centred(a) ** 2 * x)


def normalise(a):
    a /= np.sqrt(np.sum(a * a))


@ordinary(A)
def procedure_in_place(x):
    y = x * x
    normalise(y)
    return np.sum(y * B)


# -- ways out ---------------------------------------------------------------------------------------------------------
@ordinary(A)
def several_exits(x):
    total = 0.0
    for v in x:
        if v < 0.0:
            continue
        total = total + v * v
        if total > 100.0:
            return total
        if total > 2.0:
            break
    return total * x[0]


@ordinary(0.7, "sin")
def last_raises(x, kind):
    if kind == "sin":
        return np.sin(x)
    if kind == "cos":
        return np.cos(x)
    raise ValueError(f"unknown kind {kind}")


@ordinary(0.7)
def returns_none_elsewhere(x):
    if x < 0.0:
        return None
    return x**3


@ordinary(0.7)
def ends_without_return(x):
    if x > 0.0:
        return x**3


@ordinary(2.0)
def newton(a):
    x = a
    for _ in range(20):
        step = (x * x - a) / (2.0 * x)
        x = x - step
        if abs(step) < 1e-12:
            break
    else:
        raise RuntimeError("no convergence")
    return x


@ordinary(2.0)
def endless(a):
    x = a
    while True:
        new = 0.5 * (x + a / x)
        if abs(new - x) < 1e-13:
            return new
        x = new


@ordinary(A)
def asserts(x):
    assert x.ndim == 1, f"{x.ndim} axes"
    return np.sum(x) ** 2


# -- match ------------------------------------------------------------------------------------------------------------
@ordinary(0.7, "cosine")
def match_on_strings(x, kind):
    match kind:
        case "sine":
            return np.sin(x)
        case "cosine" | "cos":
            return np.cos(x)
        case _:
            raise ValueError(kind)


@ordinary(0.7, 2)
def match_on_numbers(x, n):
    match n:
        case 0:
            y = 1.0
        case 1:
            y = x
        case k if k > 1:
            y = x**k
        case _:
            y = 1.0 / x
    return y * x


@ordinary(0.7)
def match_on_types(x):
    match x:
        case float() | int():
            return x * x
        case np.ndarray():
            return np.sum(x * x)
    return 0.0


@ordinary((0.7, 0.3))
def match_on_sequences(p):
    match p:
        case (a,):
            return a
        case (a, b):
            return a * b * b
        case (a, *rest):
            return a + sum(rest)


@ordinary({"kind": "box", "a": 0.7, "b": 0.3})
def match_on_mappings(shape):
    match shape:
        case {"kind": "circle", "r": r}:
            return math.pi * r**2
        case {"kind": "box", "a": a, "b": b}:
            return a * b
    return 0.0


@dataclass
class Ball:
    centre: np.ndarray
    radius: float


@ordinary(Ball(A, 0.7), B)
def match_on_classes(shape, x):
    match shape:
        case Ball(centre=c, radius=r) if r > 0.0:
            return r**3 * np.sum((x - c) ** 2)
        case _:
            return np.sum(x)


# -- exceptions -------------------------------------------------------------------------------------------------------
@ordinary(np.array([[2.0, 0.3], [0.3, 1.0]]))
def cholesky_or_eye(a):
    try:
        c = np.linalg.cholesky(a)
    except np.linalg.LinAlgError:
        c = np.eye(2)
    return np.sum(c**2 * a)


@ordinary(np.array([[1.0, 2.0], [2.0, 1.0]]))
def cholesky_with_jitter(a):
    jitter = 0.5
    for _ in range(6):
        try:
            c = np.linalg.cholesky(a)
            break
        except np.linalg.LinAlgError:
            a = a + jitter * np.eye(2)
            jitter = jitter * 2.0
    return np.sum(c)


@ordinary({"a": 0.7})
def key_or_default(p):
    try:
        b = p["b"]
    except KeyError:
        b = 2.0
    return p["a"] ** 2 * b


@ordinary(0.7)
def number_or_array(x):
    try:
        n = len(x)
    except TypeError:
        n = 1
    return np.sum(x**2) / n


@ordinary(0.7, 0)
def divides(x, y):
    try:
        return 1.0 / y + x
    except ZeroDivisionError:
        return x * x


@ordinary(0.7, -0.3)
def math_domain(x, y):
    try:
        z = math.log(y)
    except ValueError as error:
        log.debug("%s", error)
        z = y * x
    else:
        z = z * x
    finally:
        log.debug("done")
    return z * x


@ordinary(A)
def finally_only(x):
    try:
        y = np.sum(x**2)
    finally:
        log.debug("left")
    return y


class OutOfDomain(ValueError):
    pass


def rooted(y):
    if np.any(y < 0.0):
        raise OutOfDomain("negative")
    return np.sqrt(y)


@ordinary(A, -1.5)
def guarded(x, w):
    scale = w
    y = x
    try:
        y = y * w
        t = rooted(y)
        y = y + t
        scale = np.sum(t)
    except OutOfDomain:
        y = y * y
    else:
        y = y * scale
    finally:
        y = y * w
    return np.sum(y) * scale


EVERYDAY.append((guarded, (A, 1.5), {}))


@ordinary(0.7)
def raises_another(x):
    try:
        y = math.sqrt(x)
    except ValueError as error:
        raise RuntimeError("no root") from error
    return y * x


# -- contexts ---------------------------------------------------------------------------------------------------------
@contextlib.contextmanager
def quietly():
    with np.errstate(all="ignore"):
        yield


@ordinary(A)
def own_context(x):
    with quietly():
        y = np.log(x)
    return np.sum(y * x)


class Timer:
    def __enter__(self):
        self.start = time.perf_counter()
        return self

    def __exit__(self, *exception):
        self.elapsed = time.perf_counter() - self.start
        return False


@ordinary(A)
def timer_context(x):
    with Timer() as timer:
        y = np.sum(x**2)
    log.debug("%g", timer.elapsed)
    return y


@ordinary(A)
def suppresses(x):
    y = np.sum(x)
    with contextlib.suppress(ValueError):
        y = y * math.sqrt(x[0])
    return y


@ordinary(A)
def several_contexts(x):
    with np.errstate(divide="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return np.sum(1.0 / x)


# -- generators -------------------------------------------------------------------------------------------------------
def powers(x, n):
    p = 1.0
    for _ in range(n):
        yield p
        p = p * x


@ordinary(0.7, 4)
def sum_of_a_generator(x, n):
    return sum(powers(x, n))


@ordinary(0.7, 4)
def list_of_a_generator(x, n):
    ps = list(powers(x, n))
    return ps[-1] * ps[1]


@ordinary(0.7, 4)
def loop_over_a_generator(x, n):
    total = 0.0
    for k, p in enumerate(powers(x, n)):
        total = total + p / (k + 1)
    return total


def endless_powers(x):
    p = x
    while True:
        yield p
        p = p * x


@ordinary(0.7)
def left_by_break(x):
    total = 0.0
    for p in endless_powers(x):
        total += p
        if p < 0.1:
            break
    return total


def both(x, y):
    yield from powers(x, 2)
    yield y
    yield from (v * y for v in powers(x, 3))


@ordinary(0.7, 0.3)
def yields_from(x, y):
    return sum(v * (k + 1) for k, v in enumerate(both(x, y)))


@ordinary(0.7)
def zip_of_a_generator(x):
    total = 0.0
    for w, p in zip([0.1, 0.5, 0.7], powers(x, 5)):
        total += w * p
    return total


@ordinary(0.7)
def array_of_a_generator(x):
    return np.sum(np.array(list(powers(x, 3))) ** 2)


@ordinary(A)
def generator_expression(x):
    return sum(v * v for v in x if v > 0.5) + max(v for v in x)


@ordinary(0.7)
def resumed_elsewhere(x):
    items = powers(x, 5)
    next(items)
    return next(items) + next(items)


# -- what iterates ----------------------------------------------------------------------------------------------------
@ordinary([(0.3, 0.4), (0.5, 0.7)])
def columns(rows):
    xs, ys = zip(*rows)
    return sum(x * y for x, y in zip(xs, ys))


@ordinary([(0.9, 0.3), (-0.2, 0.5), (0.5, -0.1)])
def ranked(points):
    ordered = sorted(points, key=lambda p: p[0] * p[0])
    nearest = min(points, key=lambda p: abs(p[1]))
    return ordered[0][1] * nearest[0] + ordered[2][0] ** 2


@ordinary([0.9, -0.3, 0.5])
def largest_by_key(xs):
    return max(xs, key=abs) ** 2 + min(xs, key=lambda v: -v)


@ordinary([0.9, -0.3, 0.5])
def maps(xs):
    squares = list(map(lambda v: v * v, xs))
    positive = [v for v in filter(lambda v: v > 0.0, xs)]
    return sum(squares) * sum(positive)


@ordinary([0.9, -0.3, 0.5])
def reduces(xs):
    return functools.reduce(lambda a, b: a * b + a, xs, 1.0) + functools.reduce(operator.mul, xs)


@ordinary([0.9, -0.3, 0.5])
def accumulates(xs):
    return sum(v * v for v in itertools.accumulate(xs)) + list(itertools.accumulate(xs, operator.mul))[-1]


@ordinary([0.9, -0.3, 0.5])
def products(xs):
    return sum(a * b for a, b in itertools.product(xs, xs)) + sum(a * b for a, b in itertools.combinations(xs, 2))


@ordinary([0.9, -0.3, 0.5], [0.7])
def chains(xs, ys):
    return sum(v**2 for v in itertools.chain(xs, ys)) + sum(b * (b - a) for a, b in zip(xs, xs[1:]))


@ordinary([0.9, -0.3, 0.5])
def pairs(xs):
    return sum((b - a) ** 2 for a, b in itertools.pairwise(xs))


@ordinary([0.9, -0.3, 0.5])
def reversed_and_enumerated(xs):
    total = 0.0
    for k, v in enumerate(reversed(xs), start=1):
        total = total * v + k * v
    return total


@ordinary({"a": 0.3, "b": 0.7})
def comprehensions(p):
    squares = {k: v * v for k, v in p.items()}
    nested = [[u * v for u in p.values()] for v in p.values()]
    return sum(squares.values()) + sum(sum(row) for row in nested)


@ordinary([0.9, -0.3, 0.5])
def any_and_all(xs):
    if any(v < 0.0 for v in xs) and not all(v < 0.0 for v in xs):
        return sum(v for v in xs if v > 0.0) ** 2
    return 0.0 * xs[0]


# -- small statements -------------------------------------------------------------------------------------------------
@ordinary(0.7)
def walrus(x):
    if (y := x * x) > 0.1 and (z := y * x) > 0.1:
        return y * z
    return y


@ordinary(A)
def walrus_in_comprehension(x):
    return sum(s * s for v in x if (s := np.sin(v)) > 0.2)


@ordinary(0.7)
def chained(x):
    a = b = x * x
    b = b + a
    return a * b


@ordinary(0.7)
def deletes(x):
    y = x * x
    z = y * x
    del y
    parts = {"z": z, "x": x}
    del parts["x"]
    return parts["z"] ** 2


@ordinary(0.7)
def formats(x):
    label = f"x = {x:.2f}"
    name = "value" if len(label) > 3 else "none"
    return {"value": x * x, "none": x}[name]


@ordinary(0.7)
def imports_inside(x):
    import math as m

    from numpy import cos as cosine

    return m.sin(x) * cosine(x)


@ordinary([0.9, -0.3, 0.5], 1)
def for_else(xs, wanted):
    for k, _ in enumerate(xs):
        if k == wanted:
            found = 2.0
            break
    else:
        found = 3.0
    return found * sum(xs) ** 2


calls = 0


@ordinary(0.7)
def counts(x):
    global calls
    calls += 1
    return x * x


@ordinary(0.7)
def nonlocal_counter(x):
    count = 0

    def step(v):
        nonlocal count
        count += 1
        return v * v + count

    return step(x) * step(x + 1.0)


@ordinary(0.7)
def swaps(x):
    a, b = x, x * x
    for _ in range(3):
        a, b = b, a * b
    return a + b


def remembered(x, memo={}):  # noqa: B006
    return x * memo.setdefault("scale", 2.0)


@ordinary(0.7)
def default_that_is_an_object(x):
    return remembered(x) ** 2


@ordinary(0.7)
def partial_inside(x):
    half = functools.partial(weighted, power=2.0, shift=x)
    return half(x, 0.5) * half(x)


@ordinary(A)
def conditional_imports(x):
    try:
        from scipy.special import expit
    except ImportError:
        expit = None
    return np.sum(expit(x))


# -- names that some branches bind ------------------------------------------------------------------------------------
@ordinary(A, True)
@ordinary(A, False)
def same_flag_twice(x, keep):
    if keep:
        kept = np.sin(x)
    y = 2.0 * x
    if keep:
        y = y + kept * x
    return np.sum(y)


@ordinary(A, 0.1, True)
def history_if_asked(x, step, history=False):
    w = np.zeros(3)
    if history:
        trail = np.zeros((3, 3))
    for k in range(3):
        w = w + step * x[k] * (x - w)
        if history:
            trail[k] = w
    if history:
        w = trail
    return np.sum(w * w)


def raise_mode(mode):
    raise ValueError(f"unknown mode {mode}")


@ordinary(A, "sine")
@ordinary(A, "square")
def other_side_fails(x, mode):
    if mode == "sine":
        y = np.sin(x)
    elif mode == "square":
        y = x * x
    else:
        raise_mode(mode)
    return np.sum(y * x)


def as_rows(v):
    if v.ndim == 1:
        n = 1
        v = v.reshape(1, -1)
    elif v.ndim == 2:
        n = v.shape[0]
    return v, n


@ordinary(A)
@ordinary(np.array([A, B]))
def rows_of_either(x):
    v, n = as_rows(x)
    if n > 1:
        r = np.sum(v * v, axis=1)
        return np.sum(r * r)
    r = v[0] * 2.0
    return np.sum(r * r) * n


@ordinary(A)
def value_of_last_trip(x):
    total = 0.0
    for k in range(3):
        if k > 0:
            total = total + last * x[k]  # noqa: F821
        last = np.sin(x[k] * total + x[k])  # noqa: F841
    return total


@ordinary(A, True)
def closure_over_a_branch(x, scaled):
    if scaled:
        s = x[0]

    def scale(t):
        return t * s

    if scaled:
        return scale(x[1]) * scale(x[2])
    return x[1] * x[2]


@ordinary(0.7)
def conditional_read(x):
    if x > 0.5:
        extra = x * x
    return 2.0 * x + (extra if x > 0.5 else 0.0)


# -- keys, folds, iterators -------------------------------------------------------------------------------------------
@ordinary([0.9, 0.3, 0.5, 0.1])
def median_of_a_list(values):
    s = sorted(values)
    return 0.5 * (s[1] + s[2]) ** 2 + sum(rank * v for rank, v in enumerate(sorted(values, reverse=True), 1))


@ordinary([0.3, 0.9, 0.1], [3, 1, 2])
def sorted_pairs(xs, ks):
    pairs = sorted(zip(xs, ks), key=lambda p: p[1])
    return sum(x * x * (j + 1) for j, (x, _) in enumerate(pairs))


@ordinary(np.array([0.3, 0.9, 0.1]))
def places_by_key(x):
    order = sorted(range(len(x)), key=lambda i: x[i])
    best = max(range(len(x)), key=lambda i: x[i])
    return sum(x[k] * (j + 1) for j, k in enumerate(order)) * x[best]


@ordinary({"a": 0.9, "b": 0.3, "c": 0.5})
def sorted_keys(p):
    s = 0.0
    for k in sorted(p):
        s = s * 2.0 + p[k]
    return s


@ordinary([0.9, 0.3, 0.5])
def folds_backwards(cs):
    return functools.reduce(lambda acc, c: c + 1.0 / acc, reversed(cs), 1.0)


@ordinary([0.01, 0.02, 0.03], 1.5)
def compounds(rates, start):
    balances = list(itertools.accumulate(rates, lambda b, r: b * (1.0 + r), initial=start))
    return balances[-1] * balances[1]


@ordinary([0.9, 0.3, 0.5, 2.0])
def pairs_with_a_break(xs):
    e = 0.0
    for a, b in itertools.combinations(xs, 2):
        if a * b > 1.5:
            break
        e += 1.0 / (a - b) ** 2
    return e


@ordinary([0.9, 0.3], [0.5, 2.0, 0.1])
def several_iterators(p, q):
    longest = sum((a + b) ** 2 for a, b in itertools.zip_longest(p, q, fillvalue=0.0))
    grid = max(math.sin(x) * y for x, y in itertools.product(p, q))
    orders = sum(a * b**k for k, (a, b) in enumerate(itertools.permutations(q, 2)))
    return longest * grid + orders + sum(v**3 for v in itertools.islice(q, 1, 3))


@ordinary(A)
def endless_iterators(x):
    s = 0.0
    for k in itertools.count():
        s = s + x[k] ** 2
        if k == 2:
            break
    return s + sum(w * v for w, v in zip(itertools.cycle([1.0, -2.0]), x))


@ordinary([0.9, -0.3, 0.5])
def any_behind_and(xs):
    y = 0.0
    if len(xs) > 2 and any(v < 0.0 for v in xs):
        y = xs[0] ** 2
    return y * xs[2] if xs and all(v < 9.0 for v in xs) else y


# -- what called functions change -------------------------------------------------------------------------------------
@ordinary(A, B)
def own_argument_centred(x, w):
    y = centred(x)
    return np.sum(w * y * y) + np.sum(x**3)


def centred_and_scaled(a, s):
    centred(a)
    a *= s
    return a


@ordinary(A, 0.3)
def helpers_in_helpers(x, s):
    y = x.copy()
    z = centred_and_scaled(y, s) ** 2
    w = y * centred(y)
    return np.sum(z * y) + np.sum(w)


class Mesh:
    def __init__(self, shift):
        self.shift = shift

    def smooth(self, u, alpha):
        u[1:-1] = (1.0 - alpha) * u[1:-1] + 0.5 * alpha * (u[:-2] + u[2:])

    def move(self, u):
        u += self.shift


MESH = Mesh(0.3)


@ordinary(A, 0.3)
def methods_that_write(u, alpha):
    MESH.smooth(u, alpha)
    MESH.move(u)
    return np.sum(u**3)


@ordinary(np.array([[0.3, 0.9, 0.5], [1.2, 0.4, 0.2]]))
def rows_that_change(m):
    for i in range(2):
        centred(m[i])
    return np.sum(m**4)


# -- more of match and with -------------------------------------------------------------------------------------------
@ordinary({"kind": "gauss", "mu": 0.3, "sigma": 0.7}, 0.5)
def match_on_the_rest(dist, x):
    match dist:
        case {"kind": "gauss", **p}:
            return -0.5 * ((x - p["mu"]) / p["sigma"]) ** 2 - math.log(p["sigma"])
        case {"kind": "exp", "rate": r}:
            return math.log(r) - r * x
    return 0.0


LOCK = threading.RLock()


@ordinary(A)
def lock_and_timer(x):
    with Timer():
        y = np.sum(x**2)
        with LOCK:
            z = y * y
    return z * x[0]


# -- a dtype to compute in ---------------------------------------------------------------------------------------------
@ordinary(A, 0.2)
def root_in_complex_numbers(x, c):
    d = np.sqrt(c - x * x, dtype=complex)
    return np.abs(d[0] * x[1] + 1.0) + np.abs(d[2]) ** 2


@ordinary(A)
def power_in_complex_numbers(x):
    return np.sum(np.abs(1j * x + np.power(x, 2.0, dtype=np.complex128)))


@ordinary(A)
def spread_in_float64(x):
    return np.std(x * x, dtype=np.float64) * np.var(x, axis=0, dtype=float) + np.std(x, ddof=1, dtype=np.float64)


@ordinary(A)
def spread_in_float32(x):
    return np.std(x, dtype=np.float32)


def doubles_in_place(a):
    return np.multiply(a, 2.0, out=a)


def shifts(a, by):
    a += by


def replaces_first(a, by):
    a.__setitem__(0, by)


@ordinary(A)
def lambdas_that_write(x):
    y, z, kept = x * x, x + 1.0, [x[0]]
    order = lambda a: a.sort()  # noqa: E731
    order(y)
    (lambda a: np.add.at(a, [0, 0], x[1]))(z)
    keep = lambda items, v: items.append(v)  # noqa: E731
    keep(kept, x[1] * x[2])
    doubles_in_place(z)
    move = lambda a: shifts(a, x[0])  # noqa: E731
    move(z)
    return (y * np.arange(3) * z).sum() * kept[-1] * len(kept)


@ordinary(A)
def method_that_writes(x):
    y = x * x
    replaces_first(y, x[1])
    return (y**3).sum()


def sums_twice(items):
    return sum(items) + 10.0 * sum(items)


@ordinary(A)
def iterator_used_up(x):
    squares = map(lambda t: t * t, x)
    return sum(squares) + 10.0 * sum(squares)


@ordinary(A)
def iterator_given_on(x):
    return sums_twice(filter(lambda t: t > 0.5, x))


@ordinary(A)
def iterator_read_late(x):
    k = 2.0
    scaled = map(lambda t: t * k, x)
    k = 3.0
    return sum(scaled) * k


@ordinary(A)
def iterator_unpacked_behind_a_change(x):
    a = 1.0 * x
    a[0], (p, q, r) = 3.0, map(np.sin, a)
    return p * q + r


@ordinary(A)
def iterator_unpacked_before_a_change(x):
    a = 1.0 * x
    (p, q, r), a[0] = map(np.sin, a), 3.0
    return p * q + r + a[0] * a[1]


@ordinary(A)
def iterators_read_once(x):
    squares = map(lambda t: t * t, x)
    total = sum(squares)
    squares = filter(lambda t: t > 0.5, x)
    for v in squares:
        total += v**3
    return total


@ordinary(A, True)
@ordinary(A, False)
def switch_asked_three_times(x, scaled):
    s = 0.0
    if scaled:
        s = x[0]
    g = np.zeros_like(x)
    if scaled:
        rest = x[1] * s
        g[2] += rest
    else:
        g[2] += x[1]
        g[1] += x[2] * x[2]
    if scaled:
        g[0] += rest * rest
    return (g * np.array([1.0, 2.0, 3.0])).sum()


@ordinary([0.9, -0.3, 0.5])
def iterators_of_iterators(xs):
    products = map(lambda a, b: a * b, xs, xs[1:])
    total = sum(products) * sum(v**2 for v in itertools.islice(itertools.cycle(xs), 1, 5))
    for v in itertools.chain.from_iterable([[x, x**2] for x in xs]):
        total = total + v**3
    return total + sum(a * b for a, b in zip(xs, itertools.repeat(xs[1])))


SCALE = 3.0


@ordinary([0.9, -0.3, 0.5])
def dicts_of_pairs(xs):
    values = dict(zip(["a", "b", "c"], xs))
    total = globals()["SCALE"]
    for k, x in reversed(list(enumerate(xs))):
        total = total * 0.5 + k * x**2 * values["b"]
    return total * values["a"] + sum(a * b for a, b in list(zip(xs, xs[1:])))


@ordinary([0.9, -0.3])
def by_the_name_of_its_module(xs):
    return xs[0] ** 2 * xs[1] if "everyday" in __name__ else xs[0] ** 3


# What is refused as yet, with the code.
REFUSED = {
    "vectorised": "E5008", "overload_by_isinstance_of_a_list": "E5005", "match_on_classes": "E5005",
    "timer_context": "E5005", "resumed_elsewhere": "E5005", "counts": "E5005", "default_that_is_an_object": "E5010",
    "conditional_read": "E5011",
    "spread_in_float32": "E5006", "method_that_writes": "E5005",
    "iterator_used_up": "E5005", "iterator_given_on": "E5005", "iterator_read_late": "E5005",
    "iterator_unpacked_behind_a_change": "E5005",
}  # fmt: skip
