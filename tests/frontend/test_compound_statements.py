"""`match`, `try` and `suppress` as branches: what an exception finds half done, and what is refused."""

# ruff: noqa: N818
from __future__ import annotations

import contextlib
import math
import sys

import numpy as np
import pytest
from scipy.optimize import brentq

from srcgrad import DifferentiationError, check_grads, grad, value_and_grad


class Mine(Exception):
    pass


def risky(v):
    if v > 1.0:
        raise Mine("big")
    return v * v


def exceptions_in_a_loop(xs):
    total = 0.0
    for v in xs:
        try:
            w = risky(v)
            total = total + w
            z = risky(total)
        except Mine:
            total = total * 0.5
            continue
        else:
            total = total + z
        finally:
            total = total * 1.5
    return total


def finally_behind_a_return(x, y):
    try:
        return math.sqrt(y) * x
    except ValueError:
        return x * x
    finally:
        x = 0.0


def unpacking_on_trial(x, y):
    try:
        a, b = y
    except (TypeError, ValueError):
        a = b = x
    return a * b * x


def two_handlers(x, d):
    try:
        s = d["k"]
        t = s[2]
    except KeyError:
        r = 1.0
    except IndexError:
        r = 2.0
    else:
        r = t
    return r * x**2


def names_half_done(x, y):
    z = x * 1.0
    try:
        z += math.log(y)
        z *= x
        z += math.sqrt(y)
    except ValueError:
        z *= 3.0
    return z * x


def elements_on_trial(xs):
    out = np.zeros(3)
    for i in range(3):
        try:
            out[i] = risky(xs[i])
        except Mine:
            out[i] = 3.0 * xs[i]
    return np.sum(out)


def raised_again(x, y):
    try:
        z = math.log(y)
    except ValueError:
        if x > 5.0:
            raise
        z = x
    return z * x


def suppressed(x, y):
    with contextlib.suppress(ValueError, ZeroDivisionError):
        x = x * 2.0
        x = x + math.log(y)
        x = x * 7
    return x * x


def branches_on_trial(x):
    t = 2.0
    try:
        if x > 1.0:
            t = t * x
            if x > 2.0:
                t = t + math.sqrt(3.0 - x)
            else:
                raise KeyError("k")
            t = t * t
        elif x < -1.0:
            raise RuntimeError
        t = t * x
    except ValueError:
        t = t * 5.0 * x
    except (KeyError, IndexError) as error:
        t = t * (6.0 + len(error.args)) * x
    else:
        t = t + x * x
    return t


def returns_on_trial(x):
    try:
        if x > 1.0:
            return math.log(2.0 - x) * x
        z = x * x
    except ValueError:
        return x**3
    return z * x


def behind_a_raise(x):
    s = 3.0
    for _ in range(2):
        try:
            if x > 2.0:
                break
            if x > 0.0:
                s = s * x
                raise ValueError
                s = 1.0
            s = s * x * 2.0
        except ValueError:
            s = s * s
    return s


def contexts_on_trial(x):
    try:
        import a_package_that_is_not_there

        x = a_package_that_is_not_there.scaled(x)
    except ImportError:
        x = 2.0 * x
    try:
        from math import pi

        y = x * pi
        with np.errstate(all="raise"):
            z = np.log(x - 1.0)
    except FloatingPointError:
        return x**3
    return y * z


def positive(x):
    def is_positive(v):
        return v > 0.0

    if not is_positive(x):
        raise ValueError
    return x


def found_on_trial(x):
    try:
        y = brentq(cubic, -5.0, positive(x) + 3.0, args=(x,))
    except ValueError:
        y = x * x
    return y * x


def variables_of_their_own_on_trial(x):
    """What a comprehension or a lambda binds is no variable of the function, whatever it is called there."""
    v, k = 2.0 * x, x
    try:
        w = sum([v * k for v in [x, v]])
        y = v * w + brentq(lambda k: k**3 + k - x * w, -5.0, positive(x) + 3.0) * k
    except ValueError:
        y = v
    return y * k


def names_so_far(v, x):
    if v > 0.0:
        y = named(locals(), "x")
    else:
        z = x * v
        y = named(locals(), "z")
    return y * v


def named(names, key):
    return names[key] ** 2


def cubic(u, x):
    return u**3 + u - x


CASES = [
    *((contexts_on_trial, (np.float64(x),)) for x in (0.2, 0.9)),
    *((found_on_trial, (x,)) for x in (-5.0, 1.2)),
    *((variables_of_their_own_on_trial, (x,)) for x in (-0.5, 1.2)),
    *((names_so_far, (v, 1.2)) for v in (-0.5, 0.5)),
    *((branches_on_trial, (x,)) for x in (0.5, 1.5, 2.5, 3.5)),
    *((returns_on_trial, (x,)) for x in (0.5, 1.5, 2.5)),
    *((behind_a_raise, (x,)) for x in (-0.5, 1.5)),
    (exceptions_in_a_loop, (np.array([0.3, 1.4, 0.8, 0.9, 0.2]),)),
    (finally_behind_a_return, (0.7, -1.0)),
    (finally_behind_a_return, (0.7, 2.0)),
    (unpacking_on_trial, (0.7, 3)),
    (unpacking_on_trial, (0.7, (0.3, 0.5))),
    (unpacking_on_trial, (0.7, (0.3, 0.5, 0.6))),
    (two_handlers, (0.7, {})),
    (two_handlers, (0.7, {"k": [1.0]})),
    (two_handlers, (0.7, {"k": [1.0, 2.0, 5.0]})),
    (names_half_done, (0.7, -1.0)),
    (names_half_done, (0.7, 2.0)),
    (elements_on_trial, (np.array([0.3, 1.4, 0.8]),)),
    (raised_again, (0.7, -1.0)),
    (suppressed, (0.7, -1)),
    (suppressed, (0.7, 2)),
]


@pytest.mark.parametrize(("function", "arguments"), CASES, ids=[f"{f.__name__}-{k}" for k, (f, _) in enumerate(CASES)])
def test_derivatives(function, arguments) -> None:
    check_grads(function, arguments, order=2)


def lists_grow_on_trial(x):
    s, t, d = [x], [1.0], {"a": x}
    try:
        s.append(x * 3.0)
        s.insert(0, x * x)
        if x > 1.0:
            s.extend([x, x * x])
            s.pop()
        d.setdefault("b", x * x)
        t.append(math.log(2.0 - x))
        t.reverse()
        d.update(a=d["a"] * x)
    except ValueError:
        t.append(s[-1] * x)
    return sum(s) * sum(t) * t[0] * d["a"] * d["b"]


def what_is_popped_on_trial(x):
    q, t = [x, x * x], 0.5
    for k in range(4):
        try:
            q.pop()
            t = t + x * k
        except IndexError:
            q.append(t * x)
            t = t * 2.0
    return t + sum(q)


def arrays_filled_on_trial(x):
    a = np.ones(3) * x
    for k in range(3):
        try:
            np.add.at(a, [k, k + 1], x)
            np.multiply(a, x, out=a)
            np.copyto(a, a * a[0])
        except IndexError:
            a[1] = a[2] * x
    return np.sum(a * a)


def array_filled_and_read(x):
    a = np.ones(3)
    try:
        y = np.multiply(a, x, out=a)
    except ValueError:
        y = a
    return np.sum(y * a)


@pytest.mark.parametrize(
    "function", [lists_grow_on_trial, what_is_popped_on_trial, arrays_filled_on_trial, array_filled_and_read]
)
@pytest.mark.parametrize("x", [0.7, 1.3, 2.2])
def test_a_trial_changes_nothing(function, x) -> None:
    check_grads(function, (x,), order=1)


def test_an_exception_that_a_handler_raises_again_reaches_the_caller() -> None:
    with pytest.raises(ValueError, match="math domain"):
        grad(raised_again)(7.0, -1.0)


def test_an_exception_that_no_handler_takes_reaches_the_caller() -> None:
    def quotient(x, y):
        try:
            z = x / y
        except ValueError:
            z = x
        return z

    with pytest.raises(ZeroDivisionError):
        grad(quotient)(1.0, 0)


def test_what_is_printed_on_trial_stands_there_once(capsys) -> None:
    def told(x):
        try:
            if x > 1.0:
                print("told")
                raise ValueError
            y = x
        except ValueError:
            y = x * x
        return y

    assert grad(told)(3.0) == 6.0
    assert capsys.readouterr().out == "told\n"
    with pytest.raises(RuntimeError):
        grad(branches_on_trial)(-2.0)


def test_no_trial_succeeds() -> None:
    def tried(x, y):
        for _ in range(2):
            try:
                z = x * math.log(y)
                break
            except ValueError:
                y = y - 1.0
        return z

    with pytest.raises(UnboundLocalError):
        tried(1.0, -1.0)
    with pytest.raises(UnboundLocalError):
        grad(tried)(1.0, -1.0)
    assert grad(tried)(1.0, 2.0) == math.log(2.0)


def test_errors_of_a_derivative_are_not_caught() -> None:
    """`math.sqrt` takes 0, and its derivative does not."""

    def root(x):
        try:
            y = math.sqrt(x)
        except ZeroDivisionError:
            y = 5.0 * x
        return y

    with np.errstate(all="ignore"), contextlib.suppress(ZeroDivisionError):
        assert grad(root)(0.0) == np.inf


def test_the_name_of_an_exception_is_no_other_name() -> None:
    def named(x, y):
        error = 2.0
        try:
            z = math.sqrt(y)
        except ValueError as error:
            z = x * len(error.args)
        return z * error

    with pytest.raises(DifferentiationError) as found:
        grad(named)(1.0, 2.0)
    assert found.value.code == "E5005"


def test_a_guard_that_fails_binds_its_name() -> None:
    def guarded(x, n):
        k = 1.0
        match n:
            case k if k > 3:
                x = x * k
        return x * k

    with pytest.raises(DifferentiationError) as found:
        grad(guarded)(1.0, 2)
    assert found.value.code == "E5005"


def chosen(p, x):
    match p:
        case None:
            return x
        case 0 | 1 | -1:
            return x * 2.0
        case str():
            return x * 3.0
        case [a, [b, *_], {"k": c}]:
            return x * a * b * c
        case (a, b) | [a, b, _]:
            return x * a / b
        case {"k": {"l": a}}:
            return x * a
        case float(a) if a > 0.5:
            return x**2 * a
        case _:
            return x * 7.0


@pytest.mark.parametrize(
    "p",
    [None, 0, -1, 2, "a", [2.0, [3.0, 1.0, 4.0], {"k": 0.5}], (2.0, 4.0), [2.0, 4.0, "b"], [2.0], {"k": {"l": 3.0}},
          {"k": 1.0}, 0.7, 0.3, True],
)  # fmt: skip
def test_patterns(p) -> None:
    assert np.isclose(grad(chosen, wrt="x")(p, 0.7), (chosen(p, 0.7 + 1e-6) - chosen(p, 0.7 - 1e-6)) / 2e-6)


def test_a_function_that_returns_nothing_says_so() -> None:
    def half(x):
        if x > 0.0:
            return x * x
        return None

    assert grad(half)(3.0) == 6.0
    with pytest.raises(DifferentiationError, match="E5005"):
        grad(half)(-3.0)


def store_behind_the_end(x):
    y = x * 2.0
    try:
        y[5] = x[0]
    except IndexError:
        y = y * 3.0
    return np.sum(y * y)


def store_after_another(x):
    y = np.zeros(3)
    try:
        y[0] = x[0]
        y[5] = x[1]
    except IndexError:
        y = y * 3.0
    return np.sum(y * y)


def stores_in_a_loop(x):
    y = np.zeros(3)
    for i in range(6):
        try:
            y[i] = x[0] * i
        except LookupError:
            y[0] += y[1] * x[1]
    return np.sum(y * y)


def store_of_another_shape(x):
    y = np.zeros(3)
    try:
        y[0:2] = x[0] * x
    except ValueError:
        y = x * x
    return np.sum(y * y)


def store_into_an_argument(y):
    try:
        y[5] = 3.0 * y[0]
    except Exception:
        y[0] = y[1] * 4.0
    return np.sum(y * y)


def store_of_what_is_tried_too(x):
    y = x * 2.0
    try:
        t = x[1] * 2.0
        y[t.size + 7] = t
    except IndexError:
        t = x[0] * 5.0
    return np.sum(y * y) * t


@pytest.mark.parametrize("function", [
    store_behind_the_end, store_after_another, stores_in_a_loop, store_of_another_shape, store_into_an_argument,
    store_of_what_is_tried_too,
])  # fmt: skip
def test_a_store_on_trial_raises_what_it_raises(function) -> None:
    check_grads(function, (np.array([0.3, 1.2, -2.0]),), order=2)


def test_a_store_that_is_not_caught_raises() -> None:
    def function(x):
        y = x * 2.0
        try:
            y[7] = x[0]
        except ZeroDivisionError:
            y[2] = 0.0
        return np.sum(y * y)

    with pytest.raises(IndexError):
        grad(function)(np.ones(3))


def passed_by_an_exception(x):
    s = x
    try:
        try:
            s = s / (x - 2.0)
        finally:
            s = s * x
    except ZeroDivisionError:
        s = s * 3.0
    return s


@contextlib.contextmanager
def grown(a, x):
    a *= x
    try:
        yield a
    finally:
        a += 1.0


def context_within_a_trial(x):
    a = np.ones(2) * x
    s = x
    try:
        with grown(a, x):
            s = s / (x - 2.0)
    except ZeroDivisionError:
        s = s * 3.0
    return s + np.sum(a)


@pytest.mark.parametrize("function", [passed_by_an_exception, context_within_a_trial])
def test_an_end_that_an_exception_passes_on_its_way_is_refused(function) -> None:
    """It was left out where the outer `try` took the exception."""
    with pytest.raises(DifferentiationError, match=r"E5005.*`finally` within what another `try` tries"):
        grad(function)(2.0)


def inner_takes_another(x):
    s = x
    try:
        s = s * 2.0
        try:
            s = s * math.log(x - 2.0)
            s = s / (x - 3.0)
        except ValueError:
            s = s * x
        else:
            s = s + 1.0
        s = s * x
    except ZeroDivisionError:
        s = s * 3.0 * x
    finally:
        s = s + x
    return s


@pytest.mark.parametrize(("x", "slope"), [(0.7, 6.0 * 0.7**2 + 1.0), (3.0, 55.0)])
def test_an_exception_that_the_inner_handlers_do_not_take(x, slope) -> None:
    value, gradient = value_and_grad(inner_takes_another)(x)
    assert value == inner_takes_another(x)
    assert np.isclose(gradient, slope)


def names_twice(v, x):
    held = locals()
    x = x * 2.0
    later = locals()
    return held["x"] * later["v"]


def first_pair(v, x):
    k, y = next((k, y) for k, y in enumerate([v, x]) if y > v)
    return k * y


@pytest.mark.parametrize("function", [names_twice, first_pair] if sys.version_info < (3, 13) else [first_pair])
def test_what_is_refused_by_now(function):
    """All calls of `locals` gave one dict before Python 3.13."""
    with pytest.raises(DifferentiationError, match="E5005"):
        grad(function)(0.5, 1.5)
