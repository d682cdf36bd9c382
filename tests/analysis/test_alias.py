"""An array that something else may hold is not changed in place: `+=` on it is refused."""

from __future__ import annotations

import linecache
from typing import Any

import numpy as np
import pytest

from srcgrad import check_grads, grad, hvp, jvp, source
from srcgrad.core.errors import DifferentiationError

VIEWS = (
    "{a}", "{a}.reshape(-1)", "{a}.ravel()", "{a}.T", "{a}[:]", "{a}[0]", "{a}.swapaxes(0, 1)", "np.flip({a})",
    "np.split({a}, 2)[0]", "np.hsplit({a}, 2)[0]", "np.vsplit({a}, 2)[0]", "np.einsum('ij->ji', {a})",
    "np.rot90({a})", "np.moveaxis({a}, 0, 1)", "np.diag({a})",
)  # fmt: skip
SPELLED_OUT = ("{a}.T", "{a}[:]", "{a}.swapaxes(0, 1)")  # views for sure, whatever the array
FORMS = (
    "    v = {x}\n    v *= 3.0\n    return np.sum(v * v) + np.sum(x**3)\n",
    "    a = x * 1.5\n    v = {a}\n    v *= 3.0\n    return np.sum(v * v) + np.sum(a**3)\n",
    "    a = x * 1.5\n    v = {a}\n    a *= 3.0\n    return np.sum(v * v) + np.sum(a**3)\n",
)


def defined(text: str) -> Any:
    name = f"<alias {abs(hash(text))}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    namespace: dict[str, Any] = {"np": np}
    exec(compile(text, name, "exec"), namespace)
    return namespace["f"]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("view", VIEWS)
def test_a_change_through_a_view_is_refused_or_right(view: str, form: str) -> None:
    f = defined("def f(x):\n" + form.format(x=view.format(a="x"), a=view.format(a="a")))
    x = np.array([[0.3, 0.8], [1.1, 0.4]])
    before = x.copy()
    primal = defined("def f(x):\n    x = x.copy()\n" + form.format(x=view.format(a="x"), a=view.format(a="a")))
    try:
        found = grad(f)(x)
    except DifferentiationError as error:
        assert error.code == "E5010" and view not in SPELLED_OUT
    else:
        np.testing.assert_allclose(found, differences(primal, x), rtol=1e-7)
    assert np.array_equal(x, before)


def differences(f: Any, x: np.ndarray) -> np.ndarray:
    """Central differences, one element at a time."""
    found = np.zeros_like(x)
    for place in np.ndindex(x.shape):
        step = np.zeros_like(x)
        step[place] = 1e-6
        found[place] = (f(x + step) - f(x - step)) / 2e-6
    return found


def test_a_change_of_an_array_made_here_is_taken() -> None:
    f = defined("def f(x):\n    v = x * 2.0\n    v *= 3.0\n    v += np.sin(x)\n    return np.sum(v * v)\n")
    check_grads(f, (np.array([[0.3, 0.8], [1.1, 0.4]]),), order=1)


NEW_IN_EACH_TRIP = """def f(x):
    v = np.cos(x)
    for k in range(3):
        x = x + 0.1 * v
        x += np.sin(v)
        v = v * x
    return np.sum(v * x)
"""


def test_an_argument_is_changed_where_a_new_array_has_its_name():
    x = np.array([[0.3, 0.8], [1.1, 0.4]])
    before = x.copy()
    check_grads(defined(NEW_IN_EACH_TRIP), (x,), order=2)
    assert np.array_equal(x, before)
    first = "        x = x + 0.1 * v\n"
    for text in ("        if k:\n            x = x + 0.1 * v\n", "        x += 0.1 * v\n" + first):
        with pytest.raises(DifferentiationError, match=r"E5010.*is an argument"):
            grad(defined(NEW_IN_EACH_TRIP.replace(first, text)))(x)


STATE = np.zeros(3)
SEEN = []


def stored(x):
    STATE[0] = x
    return STATE[0] * x


def listed(x):
    SEEN.append(x)
    return SEEN[0] * x


@pytest.mark.parametrize("program", [stored, listed])
def test_what_belongs_to_the_module_is_not_written_into(program):
    with pytest.raises(DifferentiationError, match=r"E5010.*belongs to the module"):
        grad(program)(2.0)
    assert STATE.tolist() == [0.0, 0.0, 0.0] and SEEN == []


def power(s, n):
    return 1.0 + 0.1 * s if n <= 0 else np.tanh(s) * power(s, n - 1)


def of_branches(x, c):
    a = np.sin(x)
    a[0] = power(a[0] if c > 100.0 else c * 0.5, 2)
    return np.sum(a * x)


def of_items(x, c):
    a = np.sin(x)
    a[0] = power({"u": a[0], "v": c}["v" if c < 100.0 else "u"], 1)
    return np.sum(a * x)


@pytest.mark.parametrize("function", [of_branches, of_items])
def test_an_element_that_is_kept_may_be_a_number_of_pythons(function: Any) -> None:
    x, names = np.array([0.3, 0.5, 0.7]), dict[str, Any]()
    exec(source(function, wrt=("x", "c")), names)
    _, found = names[f"{function.__name__}_grad"](x, 0.4)
    _, expected = grad(function, (0, 1))(x, np.float64(0.4))
    assert found == expected != 0.0
    check_grads(function, (x, 0.4), order=1)


def kept_or_taken(x, c):
    a = np.sort(x)
    for v in x:
        c = c if v < 5.0 else a[0]
    c = c * c
    a[1] += x[0]
    return np.sum(a) * c


def kept_or_taken_by_or(x, c):
    a = np.sort(x)
    c = c or a[0]
    d = c * c
    a[0] += x[0]
    return np.sum(a) * d


def product_or_element(x, c):
    a = np.sort(x)
    d = 2 * c
    for i in range(3):
        e = d
        if x[i] > 5.0:
            d = a[i]
        d = d * e
    a[0] += x[0] * e
    return np.sum(a)


def second_name_or_element(x, c):
    a = np.cos(x)
    d = e = c
    while d < 0.0:
        d = a[1] if d < -1.0 else e
    c = d * e
    a[1:] *= 2.0
    return a @ x + c


@pytest.mark.parametrize("c", [0.4, np.float64(0.4), np.array(0.4)])
@pytest.mark.parametrize("function", [kept_or_taken, kept_or_taken_by_or, product_or_element, second_name_or_element])
def test_a_number_of_pythons_or_an_element_that_changes_later(function: Any, c: Any) -> None:
    check_grads(function, (np.array([0.3, 0.5, 0.7]), c), order=1)
    assert type(jvp(function, (np.ones(3), c), (np.ones(3), 0.0))[1]) is np.float64


def in_a_tuple(x, c):
    x[0] += c
    p = (np.tanh(x * c), x[-1])
    x[0], x[0] = x[-1], p[0][0] * p[1]
    return np.sum(x) * c


def test_a_tuple_of_elements_that_change_later() -> None:
    """Of a text that knows nothing of the arguments: a tuple has no method copy."""
    x, names = np.array([0.3, 0.5, 0.7]), dict[str, Any]()
    exec(source(in_a_tuple, wrt=("x", "c")), names)
    found = names["in_a_tuple_grad"](x, 0.4)
    for one, wanted in zip(found, grad(in_a_tuple, (0, 1))(x, 0.4), strict=True):
        np.testing.assert_allclose(one, wanted, rtol=1e-12)
    check_grads(in_a_tuple, (x, 0.4), order=1)


def put_back(x, c):
    taken = np.array([0.1, 0.9, 0.7, 0.2]) > 0.5
    a = x
    trail = [a]
    if c > 0.2:
        a = np.tanh(x) * 0.7
    else:
        c = np.tanh(c + 0.3 * np.sum(trail[-1] * a))
    before = a
    a = a.copy()
    a[taken] += before[2] * np.tanh(c) * 1.14
    trail.append(a)
    c = np.tanh(c + 0.3 * np.sum(trail[-1] * before))
    return np.sum(a * trail[-1]) + c


def calls(x, c):
    y = put_back(x, c)
    return 1.3 * y


@pytest.mark.parametrize("function", [put_back, calls])
@pytest.mark.parametrize("c", [1.1, 0.1])
def test_a_list_shows_what_the_backward_half_puts_back(function, c):
    """Where all undoes one line of the user, `trail[-1]` was read after `a` had got its old elements back."""
    check_grads(function, (np.array([1.1, 0.8, -0.6, -0.5]), c), order=2)


OWN = (0.6, 0.2)


def writes_an_element(x):
    if 3 * OWN[0] < 0.31:
        x += [OWN[-1], -0.7, OWN[-1]]
        d = np.full((1, 2), 0.5)
        d[0, -1] = x[-1]
    return 0.5 * np.ones((2,))


def called_in_a_loop(a, x):
    for _ in range(3):
        a = writes_an_element(np.ones((3,)) + np.array([1, 2, 0]))
    a[0] *= x
    return np.sum(a * a)


def test_an_element_written_into_another_array_is_checked_where_its_shape_is_not_known():
    """A write into an element has no shape of its own: the check that it is a number raised KeyError."""
    a, x = np.array([0.3, 0.4, 0.5]), 0.6
    found = grad(called_in_a_loop, wrt=(0, 1))(a, x)
    np.testing.assert_array_equal(found[0], np.zeros(3))
    step = called_in_a_loop(a, x + 1e-6) - called_in_a_loop(a, x - 1e-6)
    np.testing.assert_allclose(found[1], step / 2e-6, rtol=1e-7)


class Store:
    """Methods named like the makers of NumPy, which hand out what is kept."""

    def __init__(self) -> None:
        self.kept = np.ones(3)

    def zeros(self) -> np.ndarray:
        return self.kept

    def full(self, _: int) -> np.ndarray:
        return self.kept


STORE = Store()


def handed_out_twice(x):
    a = STORE.zeros()
    b = STORE.zeros()
    a += x
    return np.sum(a * b)


def handed_out_in_a_loop(x):
    s = 0.0
    for _ in range(2):
        a = STORE.full(3)
        a += x
        s += np.sum(a * STORE.kept)
    return s


@pytest.mark.parametrize("function", [handed_out_twice, handed_out_in_a_loop])
def test_a_method_named_like_a_maker_of_arrays_makes_none(function: Any) -> None:
    with pytest.raises(DifferentiationError, match="E5010"):
        grad(function)(np.arange(3.0))
    assert np.array_equal(STORE.kept, np.ones(3))


class Maker:
    """Methods named like the makers of NumPy, and not, which make arrays of their own."""

    def zeros(self, n: int) -> np.ndarray:
        return np.zeros(n)

    def whole(self) -> np.ndarray:
        return np.zeros(3, dtype=int)

    def nested(self) -> np.ndarray:
        return self.zeros(3)


MAKER = Maker()


def made_and_added_to(x):
    a = MAKER.zeros(3)
    b = MAKER.nested()
    a += x
    b += x * x
    return np.sum(a * b)


def made_and_filled(x):
    s = 0.0
    for k in range(3):
        a = MAKER.zeros(3)
        a[k] = x[k] ** 2
        s += np.sum(a * a * x)
    return s


def filled_in_a_derivative(x):
    a = MAKER.zeros(2)
    a[0] = x[0] ** 3
    a[1] = x[1]
    return np.sum(grad(cubes)(a) * x[:2])


def cubes(x):
    a = MAKER.zeros(2)
    a[0] = x[0] ** 3
    a[1] = x[1] ** 2
    return np.sum(a * a)


@pytest.mark.parametrize("function", [made_and_added_to, made_and_filled, filled_in_a_derivative])
def test_a_method_that_makes_an_array_gives_one_that_may_change(function: Any) -> None:
    x = np.array([0.6, 0.7, 1.1])
    steps = 1e-6 * np.eye(3)
    expected = [(function(x + step) - function(x - step)) / 2e-6 for step in steps]
    np.testing.assert_allclose(grad(function)(x), expected, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose([jvp(function, (x,), (one,))[1] for one in np.eye(3)], expected, rtol=1e-6, atol=1e-8)
    ahead, behind = grad(function)(x + steps[0]), grad(function)(x - steps[0])
    np.testing.assert_allclose(hvp(function)(x, np.eye(3)[0]), (ahead - behind) / 2e-6, rtol=1e-6, atol=1e-8)


def filled_with_integers(x):
    a = MAKER.whole()
    a[0] = x[0]
    return np.sum(a * x)


def handed_out_in_a_derivative(x):
    a = STORE.zeros()
    b = STORE.zeros()
    a[0] = x[0] ** 3
    return np.sum(grad(cubes)(a) * x * b)


def test_what_a_method_made_is_looked_at_by_its_dtype_and_its_memory() -> None:
    with pytest.raises(DifferentiationError, match="E5002"):
        grad(filled_with_integers)(np.arange(3.0))
    for derivative in (grad, hvp):
        with pytest.raises(DifferentiationError, match="E5010"):
            derivative(handed_out_in_a_derivative)(*[np.arange(3.0)] * (1 + (derivative is hvp)))


def begun_with_an_argument(x, m, k):
    e = m if k else np.pi
    while True:
        step = (e - x * np.sin(e) - 1.2) / (1.0 - x * np.cos(e))
        e -= step
        if abs(step) < 1e-12:
            break
    return e


def begun_with_an_item(x, c, k):
    total = [1.0, x, c][k]
    for one in (2.0, 3.0):
        total += one / x
    return total


def begun_with_a_part(x, c, k):
    total = x[0] if k else x[1]
    total += c
    return np.sum(total * x)


@pytest.mark.parametrize("k", [0, 1])
@pytest.mark.parametrize("function", [begun_with_an_argument, begun_with_an_item])
def test_a_number_that_begins_a_sum_has_another_name(function: Any, k: int) -> None:
    check_grads(function, (0.3, 1.1, k), order=1)
    text = source(function, wrt="x")
    assert "check_number(" in text


def test_a_look_within_a_conditional_expression_stays_in_the_text() -> None:
    names: dict[str, Any] = {}
    exec(source(begun_with_a_part, wrt="x"), names)
    found = names["begun_with_a_part_grad"]
    assert found(np.array([2.0, 3.0]), 1.0, 1).tolist() == [8.0, 3.0]  # of (x0 + 1) (x0 + x1)
    with pytest.raises(TypeError, match="E5010"):  # the row changes with its array, which is read
        found(np.eye(2), 1.0, 1)


def sorted_then_written(x):
    t = x[x.argsort()]
    t[0] = x[0] ** 2
    u = t[np.nonzero(t > 0.2)[0]]
    u[1] *= 2.0
    return np.sum(u * u)


def test_elements_at_computed_places_are_a_copy() -> None:
    check_grads(sorted_then_written, (np.array([0.9, 0.4, 1.7]),), order=1)


FOUND = np.array([False, True, True])


def row_at_a_place(x):
    a = x * 1.0
    row = a[np.where(FOUND)[0][0]]
    row *= 2.0
    return np.sum(a * a)


def row_at_a_named_place(x):
    a = x * 1.0
    places = np.nonzero(FOUND)
    row = a[places[0][1]]
    row[0] = 5.0 * x[0, 0]
    return np.sum(a * a)


def rows_at_places(x):
    a = x * 1.0
    rows = a[np.nonzero(FOUND)[0]]
    rows[0] = 5.0 * x[0]
    return np.sum(a * a) + np.sum(rows)


def test_a_row_at_one_of_the_places_is_a_view_and_rows_at_all_of_them_are_a_copy() -> None:
    x = np.arange(1.0, 10.0).reshape(3, 3)
    for function in (row_at_a_place, row_at_a_named_place):
        with pytest.raises(DifferentiationError, match="E5010"):
            grad(function)(x)
    wanted = 2.0 * x + np.array([[5.0], [0.0], [1.0]])
    np.testing.assert_allclose(grad(rows_at_places)(x), wanted)
