"""An argument that is written into and that shows what else the function reads: right, or refused with the line."""

from __future__ import annotations

import dataclasses
import types
from typing import Any

import numpy as np
import pytest

import srcgrad
from srcgrad.interface.check.check import check_grads
from tests.templates.chains import defined

U = np.array([1.0, 2.0, 3.0])
HELD = {"u": U}
NAMED = types.SimpleNamespace(u=U)


def product(x):
    return np.sum(U * x)


def read_as_global(x):
    x[0] = 3.0 * x[1]
    return np.sum(U * x)


def table():
    return U


def twice():
    return 2.0 * table()


def read_by_a_helper(x):
    x[0] = 3.0 * x[1]
    return np.sum(table() * x)


def read_by_a_helpers_helper(x):
    x[0] = 3.0 * x[1]
    return np.sum(twice() * x)


class Reader:
    def weights(self):
        return U

    def energy(self, x):
        x[0] = 3.0 * x[1]
        return np.sum(self.weights() * x)


def read_in_a_dict(x):
    x[0] = 3.0 * x[1]
    return np.sum(HELD["u"] * x)


def read_by_a_called_function(x):
    x[0] = 3.0 * x[1]
    return product(x)


def read_as_default(x, u=U):
    x[0] = 3.0 * x[1]
    return np.sum(u * x)


def read_as_attribute(x):
    x[0] = 3.0 * x[1]
    return np.sum(NAMED.u * x)


def read_as_argument(x, u):
    x[0] = 3.0 * x[1]
    return np.sum(u * x)


def read_in_a_list(x, us):
    x[0] = 3.0 * x[1]
    return np.sum(us[0] * x)


def read_alone(x, u):
    x[0] = 3.0
    return np.sum(u)


def changed_by_augmentation(x, u):
    x[...] += u
    return np.sum(x * x * u)


def closed_over(u):
    def f(x):
        x[0] = 3.0 * x[1]
        return np.sum(u * x)

    return f


@dataclasses.dataclass
class Model:
    u: np.ndarray

    def loss(self, x):
        x[0] = 3.0 * x[1]
        return np.sum(self.u * x)


def listed(xs, ys):
    xs[0] = 3.0
    return ys[0] * xs[1]


PROGRAMS: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "a helper's global": (read_by_a_helper, (U,)),
    "a global of a helper's helper": (read_by_a_helpers_helper, (U,)),
    "a method's global": (Reader().energy, (U,)),
    "a global": (read_as_global, (U,)),
    "a part of a global": (read_as_global, (U[:],)),
    "a dict of the module": (read_in_a_dict, (U,)),
    "a global of a called function": (read_by_a_called_function, (U,)),
    "a default": (read_as_default, (U,)),
    "an attribute": (read_as_attribute, (U,)),
    "another argument": (read_as_argument, (U, U)),
    "a view of another argument": (read_as_argument, (U, U[::-1])),
    "an argument's list": (read_in_a_list, (U, [U])),
    "an argument that is read, not the one that is written": (read_alone, (U, U)),
    "both sides of an augmented write": (changed_by_augmentation, (U, U)),
    "a closure's cell": (closed_over(U), (U,)),
    "self": (Model(U).loss, (U,)),
    "a list": (listed, ([1.0, 2.0],) * 2),
}


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("call", ["value_and_grad", "vjp", "jvp", "hvp"])
def test_an_argument_that_shows_what_is_read_is_refused_at_the_line_that_writes(name, call):
    if (name, call) == ("self", "hvp"):
        return  # methods of records have no second derivative yet
    f, args = PROGRAMS[name]
    before = [np.array(one) for one in args]
    with pytest.raises(srcgrad.DifferentiationError) as caught:
        if call == "jvp":
            srcgrad.jvp(f, args, tuple([1.0, 1.0] if isinstance(a, list) and len(a) == 2 else a for a in args))
        elif call == "vjp":
            srcgrad.vjp(f, *args)
        elif call == "hvp":
            srcgrad.hvp(f)(*args, args[0])
        else:
            srcgrad.value_and_grad(f)(*args)
    assert caught.value.code == "E5010" and caught.value.place is not None
    assert "x" in caught.value.place.text
    assert all(np.array_equal(one, old) for one, old in zip(map(np.array, args), before, strict=True))


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_copy_is_right_also_in_later_calls(name):
    f, args = PROGRAMS[name]
    given = [np.array(args[0]) if isinstance(args[0], np.ndarray) else list(args[0]), *args[1:]]
    call = srcgrad.value_and_grad(f)
    found = [call(*given) for _ in range(4)]
    assert all(np.array_equal(found[0][1], one) for _, one in found)
    with pytest.raises(srcgrad.DifferentiationError):
        call(*args)


def test_views_side_by_side_are_not_refused():
    whole = np.arange(6.0)
    value, gradient = srcgrad.value_and_grad(read_as_argument)(whole[::2], whole[1::2])
    assert value == 9.0 * 1.0 - 6.0 * 0.0 + 2.0 * 3.0 + 4.0 * 5.0 - 3.0 * 1.0 * (3.0 - 2.0)
    assert np.array_equal(gradient, [0.0, 3.0 * 1.0 + 3.0, 5.0])


def test_one_array_twice_is_fine_where_nothing_is_written():
    x = np.array([1.0, 2.0])
    assert np.array_equal(srcgrad.grad(lambda x, y: np.sum(x * y), (0, 1))(x, x), (x, x))


def exchanged_in_a_loop(x, y):
    for _ in range(2):
        x, y = y, x
        x[0] = x[0] * 2.0
    return np.sum(x * y * y)


@pytest.mark.parametrize("line", ["c, d = c, a", "d, c = a, c", "c, c = c, c"])
def test_a_list_that_is_bound_to_its_own_name_is_still_the_callers(line: str) -> None:
    function = defined(f"def f(a, c):\n    {line}\n    c.append(a)\n    return c[1] * a\n", {})
    given = [0.4]
    assert srcgrad.grad(function)(1.5, given) == 3.0 and srcgrad.jvp(function, (1.5, given), (1.0, [0.0]))[1] == 3.0
    assert given == [0.4]


def test_arrays_that_change_places_and_are_written() -> None:
    x, y = np.array([0.3, 0.5]), np.array([0.2, 0.9])
    check_grads(exchanged_in_a_loop, (x, y), order=1)
    np.testing.assert_array_equal([x, y], [[0.3, 0.5], [0.2, 0.9]])
