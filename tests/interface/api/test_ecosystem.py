"""Derivatives among other libraries: SciPy's solvers, copies, pickles, processes, partial functions."""

from __future__ import annotations

import copy
import functools
import inspect
import linecache
import multiprocessing
import pickle
import subprocess
import sys

import numpy as np
import pytest
import scipy.integrate
import scipy.optimize

import srcgrad
from srcgrad.core.errors import DifferentiationError
from tests import typed

X = np.array([1.0, 2.0])


def energy(x, k=2.0):
    return np.sum(k * x**2) + x[0] * x[1]


def curve(x):
    return np.stack([x[0] * x[1], np.sin(x[0]), x[1] ** 2])


def cube(x):
    return np.sum(x**3)


@srcgrad.differentiate
def cubic(x):
    return np.sum(x**3)


class Model:
    def __init__(self, scale):
        self.scale = scale

    def loss(self, x):
        return np.sum(self.scale * x**2)

    @srcgrad.differentiate
    def decorated(self, x):
        return np.sum(self.scale * x**3)


def pullback():
    return srcgrad.vjp(curve, X)[1]


def push():
    return srcgrad.linearize(energy, X, 2.0)[1]


CALLABLES = {
    "grad": (lambda: srcgrad.grad(energy), (X,)),
    "two of wrt": (lambda: srcgrad.grad(energy, wrt=("k", "x")), (X, 3.0)),
    "one of wrt": (lambda: srcgrad.grad(energy, wrt=("x",)), (X, 3.0)),
    "value_and_grad": (lambda: srcgrad.value_and_grad(energy), (X,)),
    "autocast": (lambda: srcgrad.grad(energy, autocast=np.float32), (X,)),
    "elementwise_grad": (lambda: srcgrad.elementwise_grad(np.sin), (X,)),
    "grad of grad": (lambda: srcgrad.grad(srcgrad.grad(cube_of_number)), (2.0,)),
    "jacobian": (lambda: srcgrad.jacobian(curve), (X,)),
    "forward jacobian": (lambda: srcgrad.jacobian(curve, mode="forward"), (X,)),
    "hessian": (lambda: srcgrad.hessian(energy), (X,)),
    "hvp": (lambda: srcgrad.hvp(energy), (X, 2.0, X)),
    "method": (lambda: srcgrad.grad(Model(3.0).loss), (X,)),
    "hessian of a method": (lambda: srcgrad.hessian(Model(3.0).loss), (X,)),
    "partial": (lambda: srcgrad.grad(functools.partial(energy, k=3.0)), (X,)),
    "hessian of a partial": (lambda: srcgrad.hessian(functools.partial(energy, k=3.0)), (X,)),
    "decorated": (lambda: cubic, (X,)),
    "gradient of decorated": (lambda: cubic.grad, (X,)),
    "hessian of decorated": (lambda: cubic.hessian, (X,)),
    "decorated method": (lambda: Model(3.0).decorated, (X,)),
    "gradient of a decorated method": (lambda: Model(3.0).decorated.grad, (X,)),
    "pullback": (pullback, (np.ones(3),)),
    "pullback of one": (lambda: srcgrad.vjp(curve, X, wrt="x")[1], (np.ones(3),)),
    "linear map": (push, (X, 0.5)),
    "transposed map": (lambda: srcgrad.transpose(push()), (1.0,)),
}


def cube_of_number(x):
    return x**3


def same(one, other):
    for a, b in zip(flat(one), flat(other), strict=True):
        np.testing.assert_array_equal(a, b)


def flat(value):
    return list(value) if isinstance(value, tuple) else [value]


@pytest.mark.parametrize("name", CALLABLES)
def test_copies_and_pickles_give_what_the_original_gives(name):
    make, args = CALLABLES[name]
    made = make()
    expected = made(*args)
    for other in (pickle.loads(pickle.dumps(made)), pickle.loads(pickle.dumps(make())), copy.copy(made)):
        same(other(*args), expected)
        assert inspect.signature(other) == inspect.signature(made)
    same(copy.deepcopy(made)(*args), expected)


def test_a_copy_that_adds_adds_to_its_own():
    total = np.zeros(2)
    add = srcgrad.grad(energy).into(total)
    add(X)
    other = pickle.loads(pickle.dumps(add))
    np.testing.assert_array_equal(other(X), 2.0 * total)
    np.testing.assert_array_equal(total, srcgrad.grad(energy)(X))
    assert inspect.signature(add) == inspect.signature(energy)


def test_in_processes():
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        found = pool.map(srcgrad.grad(energy), [X, 2.0 * X])
        [hessian] = pool.map(srcgrad.hessian(energy), [X])
    same(tuple(found), (srcgrad.grad(energy)(X), srcgrad.grad(energy)(2.0 * X)))
    same(hessian, srcgrad.hessian(energy)(X))


CELL = "import numpy as np\ndef inner(x): return x * x\ndef cell(x): return np.sum(inner(x)) * 3.0\n"
CHILD = """
import sys, linecache
from tests.interface.api.test_ecosystem import CELL
names = sys.modules["__main__"].__dict__
exec(compile(CELL, "<cell 7>", "exec"), names)
import pickle
import numpy as np
print(pickle.loads(bytes.fromhex(sys.argv[1]))(np.ones(2)).tolist())
"""


def test_a_notebook_cell_goes_with_its_functions(monkeypatch):
    """As joblib does it: the other process has the function, and no file or cell that holds its text."""
    main = sys.modules["__main__"].__dict__
    linecache.cache["<cell 7>"] = (len(CELL), None, CELL.splitlines(keepends=True), "<cell 7>")
    for name in ("np", "inner", "cell"):
        monkeypatch.setitem(main, name, None)
    exec(compile(CELL, "<cell 7>", "exec"), main)
    given = pickle.dumps(srcgrad.grad(main["cell"])).hex()
    done = subprocess.run(
        [sys.executable, "-c", CHILD, given], capture_output=True, text=True, check=False, timeout=600
    )
    assert (done.stdout, done.stderr) == ("[6.0, 6.0]\n", "")


def test_partial():
    """Positions count what is left; a value given by name may be given anew."""
    thrice = functools.partial(energy, k=3.0)
    assert str(inspect.signature(srcgrad.grad(thrice))) == "(x, *, k=3.0)"
    same(srcgrad.grad(thrice)(X), srcgrad.grad(energy)(X, 3.0))
    same(srcgrad.grad(thrice)(X, k=4.0), srcgrad.grad(energy)(X, 4.0))
    same(srcgrad.grad(thrice, wrt="k")(X), srcgrad.grad(energy, wrt="k")(X, 3.0))
    at = functools.partial(energy, x=X)
    same(srcgrad.grad(at)(k=3.0), srcgrad.grad(energy, wrt="k")(X, 3.0))
    same(srcgrad.hvp(thrice)(X, X), srcgrad.hvp(energy)(X, 3.0, X))
    same(srcgrad.jacobian(functools.partial(energy, X))(3.0), srcgrad.grad(energy, wrt="k")(X, 3.0))
    y, back = srcgrad.vjp(thrice, X)
    same((y, *back(1.0)), (energy(X, 3.0), srcgrad.grad(energy)(X, 3.0)))
    with pytest.raises(DifferentiationError, match="E5009"):
        srcgrad.grad(thrice, wrt=1)


def test_wraps():
    gradient = srcgrad.grad(energy)

    @functools.wraps(gradient)
    def logged(*args, **kwargs):
        return gradient(*args, **kwargs)

    assert "Gradient of `energy`" in logged.__doc__
    assert logged.__name__ == gradient.__name__
    same(logged(X), gradient(X))


METHODS = {
    "BFGS": {},
    "L-BFGS-B": {"bounds": [(-5.0, 5.0)] * 3},
    "Newton-CG": {"hess": srcgrad.hessian(scipy.optimize.rosen)},
    "trust-ncg": {"hessp": srcgrad.hvp(scipy.optimize.rosen)},
    "trust-exact": {"hess": srcgrad.hessian(scipy.optimize.rosen)},
}


@pytest.mark.parametrize("method", METHODS)
def test_minimize(method):
    jac = srcgrad.grad(scipy.optimize.rosen)
    found = scipy.optimize.minimize(
        scipy.optimize.rosen, np.array([0.5, 1.5, 0.8]), jac=jac, method=method, tol=1e-10, **METHODS[method]
    )
    np.testing.assert_allclose(found.x, 1.0, atol=1e-5)


def ridge(w, x, y):
    return np.sum((x @ w - y) ** 2) + 0.1 * np.sum(w**4)


def test_minimize_with_further_arguments():
    """SciPy calls `hessp(x, vector, *args)`, which is the order of `hvp(f).hessp`."""
    random = np.random.default_rng(0)
    data = random.standard_normal((20, 3)), random.standard_normal(20)
    found = scipy.optimize.minimize(
        srcgrad.value_and_grad(ridge), np.ones(3), data, "trust-ncg", jac=True, hessp=srcgrad.hvp(ridge).hessp
    )
    np.testing.assert_allclose(srcgrad.grad(ridge)(found.x, *data), 0.0, atol=1e-4)


def residuals(p, t, y):
    return p[0] * np.exp(-p[1] * t) - y


def test_least_squares_and_root():
    t = np.linspace(0.0, 3.0, 15)
    y = residuals(np.array([2.0, 0.7]), t, 0.0)
    jac = srcgrad.jacobian(residuals)
    found = scipy.optimize.least_squares(residuals, np.ones(2), jac, args=(t, y))
    np.testing.assert_allclose(found.x, [2.0, 0.7], rtol=1e-8)
    circle = scipy.optimize.root(on_circle, np.array([1.0, 0.5]), jac=srcgrad.jacobian(on_circle))
    np.testing.assert_allclose(circle.x, [0.8, 0.6], rtol=1e-8)


def on_circle(x):
    return np.stack([x[0] ** 2 + x[1] ** 2 - 1.0, 3.0 * x[0] - 4.0 * x[1]])


def robertson(t, y):
    a, b, c = 0.04 * y[0], 1e4 * y[1] * y[2], 3e7 * y[1] ** 2
    return np.stack([b - a, a - b - c, c])


def test_solve_ivp():
    """A stiff system, for which implicit methods want the Jacobian."""
    jac = srcgrad.jacobian(robertson, wrt="y")
    start = np.array([1.0, 0.0, 0.0])
    found = scipy.integrate.solve_ivp(robertson, (0.0, 40.0), start, "BDF", jac=jac, rtol=1e-6, atol=1e-9)
    assert found.success and found.njev > 1
    np.testing.assert_allclose(found.y[:, -1], [0.7158, 9.185e-6, 0.2842], rtol=1e-3)  # Hairer and Wanner


class Labelled:
    """Values with labels, which arithmetic puts side by side: as the columns of a table are in pandas."""

    __array_ufunc__ = None

    def __init__(self, values, labels):
        self.values, self.labels = np.asarray(values), list(labels)

    def _with(self, other, joined):
        if isinstance(other, Labelled):
            other = other.values[[other.labels.index(label) for label in self.labels]]
        return Labelled(joined(self.values, other), self.labels)

    def __mul__(self, other):
        return self._with(other, np.multiply)

    def __rmul__(self, other):
        return self._with(other, lambda a, b: b * a)

    def sum(self, axis=None, dtype=None, out=None):
        return self.values.sum()

    def to_numpy(self):
        return self.values


class Table:
    def __init__(self, **columns):
        self.columns = columns

    def __getitem__(self, name):
        return self.columns[name]


def aligned(w, one, other):
    return np.sum(w * one["a"] * other["b"])


def test_labelled_values_are_refused_where_they_take_part():
    """The items of a table of which two have another order: a gradient by places would be wrong."""
    one = Table(a=Labelled([1.0, 2.0], "yx"))
    other = Table(b=Labelled([10.0, 30.0], "xy"))
    assert aligned(X, one, other) == 30.0 + 40.0
    with pytest.raises(DifferentiationError, match=r"E5017.*Labelled"):
        srcgrad.grad(aligned)(X, one, other)
    for argument in (one["a"], {"a": X, "b": one["a"]}, [one["a"]]):
        with pytest.raises(DifferentiationError, match="E5017"):
            srcgrad.grad(lambda x: np.sum(x))(argument)
    with pytest.raises(DifferentiationError, match="E5017"):
        srcgrad.grad(lambda w, s: np.sum(w * s))(X, one["a"])
    plain = Table(a=np.array([1.0, 2.0])), Table(b=np.array([30.0, 10.0]))
    np.testing.assert_array_equal(srcgrad.grad(aligned)(X, *plain), [30.0, 20.0])


def test_masked_items_are_refused():
    held = {"a": np.ma.array([1.0, 2.0], mask=[False, True]), "b": np.ma.array([3.0, 4.0])}
    table = Table(**held)
    with pytest.raises(DifferentiationError, match=r"E5017.*MaskedArray"):
        srcgrad.grad(lambda w, t: np.sum(w * t["a"] * t["b"]))(X, table)


def test_typed_file_runs():
    typed.results(X)
    with pytest.raises(DifferentiationError, match="E5009"):
        srcgrad.grad(typed.energy, wrt=1.5)
