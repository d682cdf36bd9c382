"""Checks of what a text assumes: arrays, declared shapes, equal lengths, seeds."""

from __future__ import annotations

import ast
import copy
import functools
import re
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack
from typing import Any  # arguments are arbitrary objects

import numpy as np


def check_operand(x: Any) -> None:
    """Refuse a list where the text adds arrays: `+` of two lists joins them; and an object with operators of its own.

    >>> check_operand([1.0, 2.0])
    Traceback (most recent call last):
    ...
    TypeError: E5005 `+` was taken as a sum of arrays, and an argument is a list; pass an array: np.asarray(x)
    """
    if isinstance(x, list | tuple):
        raise TypeError(
            f"E5005 `+` was taken as a sum of arrays, and an argument is a {type(x).__name__}; "
            "pass an array: np.asarray(x)"
        )
    if not isinstance(x, int | float | complex) and not hasattr(x, "__array__") and hasattr(x, "__mul__"):
        what = f"a value is of type {type(x).__name__}, whose arithmetic is its own"
        raise TypeError(f"E5017 {what}; use numbers and plain arrays: `np.asarray(...)`")


def check_dtype(dtype: Any) -> None:
    """Refuse a dtype of integers where the text adds floats up in it: what is cut off carries no derivative.

    >>> check_dtype(int)
    Traceback (most recent call last):
    ...
    TypeError: E5001 a sum or mean with `dtype=int64` gives integers, which carry no derivative; convert before
    """
    if dtype is not None and np.dtype(dtype).kind in "biu":
        what = f"a sum or mean with `dtype={np.dtype(dtype)}` gives integers, which carry no derivative"
        raise TypeError(f"E5001 {what}; convert before")


def check_method(*arguments: Any) -> None:
    """Refuse objects where the text has the method of an array: their own is another function.

    >>> check_method({})
    Traceback (most recent call last):
    ...
    TypeError: E5003 a method was taken for that of an array, and is one of a dict; call a function instead
    """
    for x in arguments:
        if not isinstance(x, int | float | complex) and not (
            hasattr(x, "__array__") or hasattr(x, "__array_namespace__")
        ):
            what = f"is one of a {type(x).__name__}; call a function instead"
            raise TypeError(f"E5003 a method was taken for that of an array, and {what}")


def check_module(x: Any, module: Any) -> None:
    """Refuse another module than that for which the text was made, the default of an argument.

    >>> import math
    >>> check_module(math, np)
    Traceback (most recent call last):
    ...
    TypeError: E5003 an argument was taken for the module numpy, and is another one; leave it out, or derive it anew
    """
    if x is not module:
        raise TypeError(
            f"E5003 an argument was taken for the module {module.__name__}, and is another one; "
            "leave it out, or derive it anew"
        )


def check_left_out(x: object) -> None:
    """Refuse an argument for which the text has a function of its own, as the primal has where it is left out.

    >>> check_left_out(np.tanh)
    Traceback (most recent call last):
    ...
    TypeError: E5003 an argument was taken to be left out (None), and is given; leave it out, or derive it anew
    """
    if x is not None:
        raise TypeError(
            "E5003 an argument was taken to be left out (None), and is given; leave it out, or derive it anew"
        )


def check_array(x: Any) -> None:
    """Refuse what is no array where a part of it is written into: a part of a list is a copy.

    >>> check_array([1.0, 2.0])
    Traceback (most recent call last):
    ...
    TypeError: E5010 an argument of class list is written into through a part of it; pass an array
    """
    if not isinstance(x, np.ndarray):
        raise TypeError(
            f"E5010 an argument of class {type(x).__name__} is written into through a part of it; pass an array"
        )


def check_arrays(*arguments: Any) -> None:
    """Refuse lists, tuples and dicts that the text takes for arrays.

    >>> check_arrays(np.zeros(2), [1.0, 2.0])
    Traceback (most recent call last):
    ...
    TypeError: E5005 an argument was taken for an array, and is a list; pass np.asarray(x)
    """
    for x in arguments:
        if isinstance(x, list | tuple | dict):
            what = f"and is a {type(x).__name__}; pass np.asarray(x)"
            raise TypeError(f"E5005 an argument was taken for an array, {what}")


def check_floats(*arguments: object) -> None:
    """Refuse lists, tuples and dicts that the text takes for arrays, and integers, of which its adjoints would be.

    >>> check_floats(np.zeros(2), np.arange(2))
    Traceback (most recent call last):
    ...
    TypeError: E5002 an argument was taken for an array of floats, and is one of int64; pass x.astype(float)
    """
    check_arrays(*arguments)
    for x in filter(holds_integers, arguments):
        what = f"and is one of {getattr(x, 'dtype', type(x).__name__)}; pass x.astype(float)"
        raise TypeError(f"E5002 an argument was taken for an array of floats, {what}")


def check_sequences(*arguments: Any) -> None:
    """Refuse dicts, and what gives other items by place than in a loop: the text goes through all of them by place.

    >>> check_sequences([1.0, 2.0], {"w": 1.0})
    Traceback (most recent call last):
    ...
    TypeError: E5005 an argument was taken for a sequence, and is a dict; pass a list, or derive it anew for a dict
    """
    if any(isinstance(x, dict) for x in arguments):
        what = "pass a list, or derive it anew for a dict"
        raise TypeError(f"E5005 an argument was taken for a sequence, and is a dict; {what}")
    if not all(map(_is_by_place, arguments)):
        what = "`x[0]`, `x[1]`, ... of an argument are not what a loop over it meets; pass `list(x)`"
        raise TypeError(f"E5005 {what}")


def _is_by_place(x: Sequence[object]) -> bool:
    """Whether a loop meets `x[0]`, `x[1]`, ..., which a class may spell by labels, or give anew each time."""
    if not hasattr(getattr(type(x), "__getitem__", None), "__code__") or hasattr(x, "__array_namespace__"):
        return True  # a list, an array
    try:
        return all(map(_is_same, x, [x[k] for k in range(len(x))]))
    except (LookupError, TypeError):
        return False


def _is_same(a: object, b: object) -> bool:
    """Whether two items are one, or equal in all their numbers."""
    if isinstance(a, list | tuple) and type(a) is type(b):
        return len(a) == len(b) and all(map(_is_same, a, b))
    if a is b or not isinstance(a, np.ndarray | np.generic | int | float | complex | str):
        return a is b
    one, two = np.asarray(a), np.asarray(b)
    return np.array_equal(one, two, equal_nan=one.dtype.kind in "fc" and two.dtype.kind in "fc")


def check_item(x: Any, held: Any = None) -> None:
    """Refuse `d[k] += e` where the item `x` is not a number: it would change for all that hold it.

    Where `held`, which may be a list, is an array, its part changes as it should.

    >>> check_item(np.zeros(2))
    Traceback (most recent call last):
    ...
    TypeError: E5010 an item of type ndarray would change in place, for all that hold it; write `d[k] = d[k] + e`
    """
    if not isinstance(x, int | float | np.generic) and not isinstance(held, np.ndarray):
        what = f"an item of type {type(x).__name__} would change in place, for all that hold it"
        raise TypeError(f"E5010 {what}; write `d[k] = d[k] + e`")


def check_real(*arguments: Any) -> None:
    """Refuse complex numbers where the text takes an argument, or what it holds, for real ones.

    >>> check_real(np.zeros(2), [1.0, 2.0j])
    Traceback (most recent call last):
    ...
    TypeError: E5017 a value was taken for real, and is complex; annotate the argument (`z: complex`) and derive it anew
    """
    for x in arguments:
        if isinstance(x, list | tuple | dict):
            check_real(*(x.values() if isinstance(x, dict) else x))
        elif np.iscomplexobj(x):
            what = "a value was taken for real, and is complex; annotate the argument (`z: complex`) and derive it anew"
            raise TypeError(f"E5017 {what}")


_Part = tuple[str, tuple[Any, ...], str, "tuple[str, ...] | str | None"]
# name, keys below a value, dtype if any, lengths: None for a number, a string for a container
_DTYPES = ("float16", "float64", "integer", "complex")


def check_shapes(values: tuple[Any, ...], *declared: str) -> None:
    """Raise ValueError (E5027) where a value is not as it is declared, or where one length has two values.

    `declared` holds, between semicolons, a part for each value, and for each item of one: a name, then `float` for a
    number, the lengths of the axes of an array (`n d`, `3 n`, `()` for none), or `tuple[2]`, `list[2]` or
    `dict['w', 'b']`. All values that are not declared `integer` are of one floating dtype, so that gradients are too;
    a first part `float64` says which.

    >>> check_shapes((np.ones((3, 2)), np.ones(2), 0.5), "x: n d; w: d; b: float")
    >>> check_shapes((np.ones((3, 2)), np.ones(4)), "x: n d; w: d")
    Traceback (most recent call last):
    ...
    ValueError: E5027 argument unlike its declaration: w has shape (4,), declared is (d,) and d is 2 in x; pass that
    """
    lengths: dict[str, tuple[int, str]] = {}
    dtypes: dict[str, str] = {}
    given = iter(values)
    whole: Any = None
    for name, keys, dtype, dims in _parsed(declared):
        if not keys:
            whole = next(given)
        value = whole
        for key in keys:
            value = value[key]
        if isinstance(dims, str):
            _check_container(name, dims, value)
            continue
        if dims is None and type(value) is float:
            continue  # the usual case, made cheap
        _check_dtype(name, dtype, value, dtypes)
        if dims is None:
            if isinstance(value, np.ndarray) or not isinstance(value, int | float | complex | np.number | np.bool_):
                raise _unlike(f"{name} is {_described(value)}, declared is a number")
        else:
            _check_lengths(name, dims, value, lengths)
    if len(dtypes) > 1:
        found = " and ".join(f"{name} is {dtype}" for dtype, name in dtypes.items())
        raise _unlike(f"{found}, which makes the gradients of one dtype")


@functools.cache
def _parsed(declared: tuple[str, ...]) -> tuple[_Part, ...]:
    """What each part says."""
    found: list[_Part] = []
    usual = ""
    for part in "; ".join(declared).split("; "):
        name, _, spelled = part.partition(": ")
        if not spelled:
            usual = name
            continue
        keys = tuple(ast.literal_eval(key) for key in re.findall(r"\[(.*?)\]", name))
        if "[" in spelled:
            found.append((name, keys, "", spelled))
            continue
        words = spelled.split()
        dtype = words.pop(0) if words[0] in _DTYPES and (len(words) > 1 or words[0] == "complex") else usual
        number = words in (["float"], [])
        found.append((name, keys, dtype, None if number else tuple(words) if words != ["()"] else ()))
    return tuple(found)


def _check_container(name: str, spelled: str, value: Any) -> None:
    tag, _, items = spelled.partition("[")
    known = str(len(value)) if hasattr(value, "__len__") else ""
    keys = ", ".join(map(repr, value)) if isinstance(value, dict) else known
    if type(value).__name__ != tag or keys != items[:-1]:
        raise _unlike(f"{name} is {_described(value)}, declared is {spelled}")


def _check_dtype(name: str, dtype: str, value: Any, dtypes: dict[str, str]) -> None:
    """The dtype that is declared; without one, floats of a common dtype, or integers that do not change it."""
    found = getattr(value, "dtype", None)
    if found is None:
        if isinstance(value, complex) and dtype != "complex":
            raise _unlike(f"{name} is complex, declared is a real number")
        return
    kind = found.kind
    if dtype == "integer" and kind in "biu":
        return
    right = kind == "c" if dtype == "complex" else kind in "fbiu"
    if dtype in ("float16", "float64"):
        right = found.name == dtype or (kind in "biu" and dtype == "float64")
    if not right or dtype == "integer" or (found.char == "e" and dtype != "float16"):
        raise _unlike(f"{name} is of dtype {found}, declared is {dtype or 'a float, not float16'}")
    if kind in "fc":
        dtypes.setdefault(np.dtype(f"f{found.itemsize // 2}").name if kind == "c" else found.name, name)
    elif value.shape and kind in "iu" and found.itemsize > 2 and dtype != "float16":
        dtypes.setdefault("float64", name)


def _check_lengths(name: str, dims: tuple[str, ...], value: Any, lengths: dict[str, tuple[int, str]]) -> None:
    shape = getattr(value, "shape", () if isinstance(value, int | float | complex) else None)
    spelled = f"({', '.join(dims)}{',' * (len(dims) == 1)})"
    if shape is None:
        raise _unlike(f"{name} is {_described(value)}, declared is an array of shape {spelled}")
    if len(shape) != len(dims):
        raise _unlike(f"{name} has shape {shape}, declared is {spelled}")
    for dim, length in zip(dims, shape, strict=True):
        due, where = (int(dim), "") if dim.isdigit() else lengths.setdefault(dim, (length, name))
        if length != due:
            raise _unlike(
                f"{name} has shape {shape}, declared is {spelled}"
                + (f" and {dim} is {due} in {where}" if where else "")
            )


def _described(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"an array of shape {value.shape}"
    return f"of type {type(value).__name__}" + (f" with {len(value)} items" if hasattr(value, "__len__") else "")


def _unlike(what: str) -> ValueError:
    return ValueError(f"E5027 argument unlike its declaration: {what}; pass that")


def check_lengths(*lengths: int) -> None:
    """Raise ValueError (E5026) where lengths differ, over which one loop runs.

    >>> check_lengths(3, 3)
    >>> check_lengths(3, 1)
    Traceback (most recent call last):
    ...
    ValueError: E5026 loops need axes of equal lengths; call the derivative itself, which has a text for others
    """
    if any(one != lengths[0] for one in lengths):
        raise ValueError(
            "E5026 loops need axes of equal lengths; call the derivative itself, which has a text for others"
        )


def check_filled(*lengths: int) -> None:
    """Raise ValueError (E5026) where a length is 0 of an axis of which the largest element is wanted.

    >>> check_filled(3, 2)
    """
    if 0 in lengths:
        raise ValueError(
            "E5026 loops need axes that are not empty; call the derivative itself, which has a text for them"
        )


def check_seed(y_bar: Any, *parts: Any) -> None:
    """Refuse a seed whose shape is not the output's: the default seed, 1.0, fits real scalars only.

    The output is one value, or arithmetic of several, which need not be computed for its shape. Raises ValueError
    with code E5007 (the output is not a real scalar) or E5014 (the seed has another shape).

    >>> check_seed(1.0, np.zeros(3))
    Traceback (most recent call last):
    ...
    ValueError: E5007 the output has shape (3,); return one number, as `np.sum(...)` gives; or use srcgrad.jacobian
    """
    for y in (y_bar, *parts):
        if not isinstance(y, float):
            break
    else:
        return  # the usual case, made cheap
    if any(map(np.iscomplexobj, parts)):
        raise ValueError("E5007 the output is complex; differentiate its real and imaginary part")
    seed, shape = np.shape(y_bar), np.broadcast_shapes(*map(np.shape, parts))
    if seed != shape:
        if seed == ():
            ways = "return one number, as `np.sum(...)` gives; or use srcgrad.jacobian"
            raise ValueError(f"E5007 the output has shape {shape}; {ways}")
        raise ValueError(f"E5014 the seed has shape {seed}, the output {shape}; make them equal")


def check_floating(a: Any) -> None:
    """Refuse an array of integers: what is written into it is cut off, and carries no derivative.

    >>> check_floating(np.zeros(2, int))
    Traceback (most recent call last):
    ...
    TypeError: E5002 a value that varies is written into an array of dtype int64; make it an array of floats
    """
    if a.dtype.kind not in "fc":
        raise TypeError(
            f"E5002 a value that varies is written into an array of dtype {a.dtype}; make it an array of floats"
        )


def check_input(x: object, *others: object) -> None:
    """Refuse integers and arrays of integers by which a derivative is taken, unless one of the others holds floats.

    >>> check_input(np.zeros(2, np.uint8))
    Traceback (most recent call last):
    ...
    TypeError: E5002 a derivative with respect to a value of type uint8; make it a float, or leave it out
    >>> check_input(np.zeros(2, np.uint8), 0.5)
    """
    if all(map(holds_integers, (x, *others))):
        what = f"a derivative with respect to a value of type {getattr(x, 'dtype', type(x).__name__)}"
        raise TypeError(f"E5002 {what}; make it a float, or leave it out")


def holds_integers(x: object) -> bool:
    """Whether a value is an integer, or an array or a list of integers alone.

    >>> holds_integers([1, (2, 3)]), holds_integers([1, 2.0]), holds_integers([])
    (True, False, False)
    """
    if isinstance(x, list | tuple):
        return bool(x) and all(map(holds_integers, x))
    return isinstance(x, int) or getattr(getattr(x, "dtype", None), "kind", "f") in "biu"


def check_complex(a: Any) -> None:
    """Refuse an array of real numbers: of what is written into it, the imaginary part is lost.

    >>> check_complex(np.zeros(2))
    Traceback (most recent call last):
    ...
    TypeError: E5017 a complex value is written into an array of dtype float64; make it an array of complex numbers
    """
    if a.dtype.kind != "c":
        raise TypeError(
            f"E5017 a complex value is written into an array of dtype {a.dtype}; make it an array of complex numbers"
        )


def check_number(x: Any, a: Any = None) -> None:
    """Refuse a part `x` of `a` that changes with it, where the function was read as if `x` were a number.

    Without `a` it is what has another name, or what `functools.cache` gave and gives again at the next call.

    >>> a = np.zeros((2, 2))
    >>> check_number(a[0], a)
    Traceback (most recent call last):
    ...
    TypeError: E5010 a part of shape (2,) changes with its array while it has a name; take a copy: `x.copy()`
    """
    if isinstance(x, np.ndarray) and not (isinstance(a, np.ndarray) and not np.may_share_memory(x, a)):
        what = "a part" if a is not None else "an array"
        behind = "with its array while it has a name" if a is not None else "in place, and something else may hold it"
        raise TypeError(f"E5010 {what} of shape {x.shape} changes {behind}; take a copy: `x.copy()`")


def check_shape(gradient: Any, x: Any) -> Any:
    """The gradient itself, if it has the shape of x; otherwise ValueError with code E5004.

    >>> check_shape(1.0, np.zeros(2))
    Traceback (most recent call last):
    ...
    ValueError: E5004 a rule gave a gradient of shape () for an argument of shape (2,); correct the rule
    """
    if np.shape(gradient) != np.shape(x):
        raise ValueError(
            f"E5004 a rule gave a gradient of shape {np.shape(gradient)} "
            f"for an argument of shape {np.shape(x)}; correct the rule"
        )
    return gradient


def exception_of(
    body: Callable[[], object],
    kinds: type[BaseException] | tuple[type[BaseException], ...],
    *contexts: AbstractContextManager[object],
) -> BaseException | None:
    """The exception that `body`, the body of a `try`, raises if it is one of `kinds`; None if it raises none.

    It is run within the contexts, of a `with` that is tried. A derivative asks this before it computes the body: what
    it branches on is then known, in both halves.

    >>> exception_of(lambda: 1.0 / 0.0, ZeroDivisionError)
    ZeroDivisionError('float division by zero')
    >>> exception_of(lambda: 1.0 / 2.0, ZeroDivisionError) is None
    True
    """
    try:
        with ExitStack() as entered:
            for context in contexts:
                entered.enter_context(context)
            body()
    except kinds as error:
        found: BaseException = error
        return found
    return None


def put_into_copy(value: object, holder: Any, index: Any) -> None:
    """Raise what `holder[index] = value` raises, and change nothing.

    >>> y = np.zeros(2)
    >>> exception_of(lambda: put_into_copy(1.0, y, 2), IndexError)
    IndexError('index 2 is out of bounds for axis 0 with size 2')
    >>> put_into_copy(1.0, y, 1), y
    (None, array([0., 0.]))
    """
    copy.copy(holder)[index] = value
