"""Programs of the corpus without loops: bindings, operators, indices, branches."""

from __future__ import annotations

import numpy as np


def overwritten_variable(x, y):
    """The second binding reads the first."""
    x = x * y
    x = np.sin(x) / y
    return np.sum(x)


def early_temporary_used_later(x):
    """The value that x had is wanted after x is bound anew, twice."""
    first = x * x
    x = np.tanh(first)
    second = x * first
    x = second + first
    return np.sum(x * second * first)


def swapped_variables(x, y):
    """A tuple assignment reads everything before it binds."""
    x, y = y * 2.0, x * y
    x, y = y, x
    return np.sum(x * np.sin(y))


def nested_unpacking(x, y):
    """Parts of parts."""
    (a, b), c = (x * y, np.sin(x)), y
    [d, (e, g)] = a, (b, c)
    return np.sum(d * e + g * g)


def array_unpacking(x):
    """The elements of an array by name."""
    a, b, c = x
    return a * b + np.sin(c) * a


def chained_names(x):
    """Two names of one value, of which one goes on."""
    a = b = x
    a = a * b
    return np.sum(a + 2.0 * b)


def augmented_scalars(x, y):
    """Every augmented operator on numbers."""
    s = x * y
    s += x
    s *= y
    s -= 0.5 * x
    s /= 1.0 + y * y
    s **= 2
    return s


def augmented_fresh_array(x):
    """An array that only this function sees is changed in place."""
    total = np.zeros(3)
    total += x * x
    total *= 2.0
    total -= np.sin(x)
    return np.sum(total * total)


def dead_code(x, y):
    """Values that nothing reads."""
    unused = np.exp(x * 30.0)
    x = x * y
    unused = unused + x
    return np.sum(x)


def all_operators(x, y):
    """Arithmetic beyond plus and times; a floor is constant."""
    a = x**2 / y - -x + +y
    b = 7.3 % y + x // 0.4 + (x % 0.7) * y
    return a * b + 2.0**x + x**y


def matrix_products(a, x):
    """Matrices and vectors on either side."""
    return np.sum((a @ a.T) @ x * (x @ a))


def kinds_of_indices(a):
    """Slices, steps, ellipsis, new axes, integer arrays, masks."""
    picked = a[np.array([0, 2, 0])] * a[None, 1, :, np.newaxis].sum()
    corner = a[..., ::-2] * a[-1, 0]
    return np.sum(picked) + np.sum(corner) + np.sum(a[a > 0.15] ** 2)


def methods_and_attributes(a):
    """The methods of an array, and what is constant about it."""
    b = a.T.reshape(-1)[: a.shape[0]] * a.size
    return (b * a.sum(axis=0)).mean() + a.dot(b).max() + a.ravel().ndim


def conditional_expressions(x, y):
    """Nested, in either branch."""
    a = x * y if x > 0.0 else (x - y if y < 1.0 else x / y)
    return (a if not (x > 2.0 or y > 2.0) else -a) * (np.sin(a) if x < 1.0 and y < 1.0 else a)


def bound_in_both_branches(x, y):
    """A name that each branch binds."""
    if np.sum(x) > y:  # noqa: SIM108  (a branch is what is tested)
        z = x * y
    else:
        z = np.sin(x)
    return np.sum(z * z)


def changed_in_one_branch(x, y):
    """A name that one branch changes, after which both values are wanted."""
    z = x * y
    w = z
    if y > 0.0:
        z = z * z
    elif y < -1.0:
        w = np.exp(z)
    return np.sum(z * w)


def nested_branches(x, y):
    """The outer test reads a value that the inner branch changes."""
    z = x
    if z > 0.0:
        z = z * y
        if z > 0.1:
            z = np.sin(z)
            y = y * z
        else:
            z = z - y
    else:
        y = y * y
    return z * y


def test_is_overwritten(x):
    """What the test read is gone when the branch is undone."""
    s = x
    if s > 0.0:
        s = s - 5.0
        s = s * x
    if s > 0.0:
        s = s * 2.0
    return s * s
