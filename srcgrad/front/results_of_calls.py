"""What calls give: the kinds of the results of NumPy's functions, of methods of arrays and lists, of built-in ones."""

from __future__ import annotations

from typing import Any  # functions are arbitrary objects

import numpy as np

from srcgrad.facts import SCALAR, UNKNOWN, Kind
from srcgrad.front.resolve import METHODS
from srcgrad.front.values import (
    ARRAY,
    BOOL,
    FLOAT,
    INTEGER,
    NONE,
    NUMERIC,
    OF_NUMBERS,
    SEQUENCES,
    SHAPE,
    STRING,
    all_of,
    each_of,
    either,
)
from srcgrad.kinds import ANY
from srcgrad.rules import rule_of

_SHAPED = (np.zeros, np.ones, np.empty, np.full)
_MIRRORED = (np.zeros_like, np.ones_like, np.empty_like, np.full_like)
_MADE = (
    np.array, np.asarray, np.ascontiguousarray, np.asanyarray, np.copy, np.stack, np.concatenate, np.vstack, np.hstack,
    np.column_stack, np.dstack, np.append, np.arange, np.linspace, np.eye, np.identity, np.diag, np.outer, np.tile,
    np.repeat, np.reshape, np.ravel, np.cumsum, np.cumprod, np.diff, np.sort, np.roll, np.flip, np.broadcast_to,
    np.atleast_1d, np.atleast_2d, np.transpose, np.swapaxes, np.tril, np.triu, np.kron, np.pad, np.convolve,
    np.linalg.inv, np.select, np.piecewise,
)  # fmt: skip
_SAME = (np.cumsum, np.flip, np.roll, np.sort, np.transpose, np.swapaxes, np.tril, np.triu, np.linalg.inv)
_LISTED = (np.split, np.array_split, np.hsplit, np.vsplit, np.dsplit, np.meshgrid, np.broadcast_arrays, np.nonzero)
_COUNTED = (np.argmax, np.argmin, np.argsort, np.searchsorted, np.count_nonzero, np.digitize, np.bincount)
_TRUTH = (np.any, np.all, np.isclose, np.isfinite, np.isnan, np.isinf, np.allclose, np.array_equal)
_REPEATED = (range, enumerate, zip, reversed, sorted, list, tuple, map, filter, iter)
_NUMBERS = {len: INTEGER, int: INTEGER, float: FLOAT, round: SCALAR, bool: BOOL, isinstance: BOOL, callable: BOOL,
            hasattr: BOOL, any: BOOL, all: BOOL, str: STRING, repr: STRING, type: UNKNOWN, print: NONE,
            np.shape: SHAPE, np.ndim: INTEGER, np.size: INTEGER, dict.fromkeys: Kind("dict")}  # fmt: skip
_ON_LISTS = {"pop": ANY, "copy": "same", "index": INTEGER, "count": INTEGER, "append": NONE, "extend": NONE,
             "insert": NONE, "sort": NONE, "reverse": NONE, "clear": NONE, "remove": NONE}  # fmt: skip
_TEXTS = ("join", "lower", "upper", "strip", "format", "replace", "title")


def of_function(function: Any, args: list[Kind], words: dict[str, Kind]) -> Kind:
    """The kind of what a function gives that is Python's, NumPy's or SciPy's.

    >>> of_function(np.exp, [Kind("list", None, ((0, FLOAT), (1, FLOAT)))], {}).tag
    'array'
    """
    if not _is_hashable(function):
        return UNKNOWN
    first = args[0] if args else UNKNOWN
    if function in _NUMBERS:
        return _NUMBERS[function]
    if function in _REPEATED or function in (sum, max, min, abs, divmod, dict, pow):
        return _of_builtin(function, args, words)
    if function in _SHAPED:
        return _shaped(first)
    if function in _MIRRORED:
        return _as_array(first) if first.tag in OF_NUMBERS or first.tag in SEQUENCES else NUMERIC
    if function in _LISTED:
        return Kind("list", None, ((ANY, ARRAY),))
    if function in _MADE:
        return _made(function, first)
    if function in _COUNTED:
        return INTEGER if first.tag == "array" and first.ndim == 1 and function in (np.argmax, np.argmin) else NUMERIC
    if function in _TRUTH:
        return BOOL
    if isinstance(function, np.ufunc):
        if function.signature is not None:  # a product of matrices or vectors: it may be a number
            return NUMERIC if function.nout == 1 else UNKNOWN
        return elementwise([*args, *words.values()]) if function.nout == 1 else UNKNOWN
    rule = rule_of(function)
    if rule is None or rule.kind in ("constant", "refused", "composed") or rule.results or rule.own is not None:
        return UNKNOWN
    module = str(getattr(function, "__module__", "") or "").partition(".")[0]
    if module not in ("numpy", "scipy", "math", "cmath", "_operator", "builtins", "operator"):
        return UNKNOWN
    return elementwise(args) if rule.kind == "elementwise" else NUMERIC


def _is_hashable(function: Any) -> bool:
    return isinstance(function, np.ufunc) or type(function).__hash__ is not None


def elementwise(args: list[Kind]) -> Kind:
    """The kind of what an elementwise operation gives."""
    known = [_as_array(kind) for kind in args if kind.tag != "none"]
    if any(kind.tag == "array" for kind in known):
        ranks = [kind.ndim for kind in known]
        return Kind("array", max(r for r in ranks if r is not None) if None not in ranks else None)
    if known and all(kind.tag in ("scalar", "bool") for kind in known):
        return SCALAR
    return NUMERIC


def _as_array(kind: Kind) -> Kind:
    """A list as the array that NumPy makes of it."""
    if kind.tag in SEQUENCES:
        inner = _as_array(each_of(kind)) if kind.items else UNKNOWN
        rank = {"scalar": 0, "bool": 0}.get(inner.tag, inner.ndim if inner.tag == "array" else None)
        return Kind("array", None if rank is None else rank + 1)
    return kind if kind.tag in ("array", "scalar", "bool", "numeric") else NUMERIC


def _shaped(shape: Kind) -> Kind:
    if shape.tag == "scalar":
        return Kind("array", 1)
    known = shape.tag == "tuple" and ANY not in dict(shape.items)
    return Kind("array", len(shape.items)) if known and shape.items else ARRAY


def _made(function: Any, first: Kind) -> Kind:
    if function in (np.array, np.asarray, np.copy, np.ascontiguousarray, np.asanyarray):
        made = _as_array(first)
        return made if made.tag == "array" else Kind("array", 0) if made.tag in ("scalar", "bool") else ARRAY
    if function in (np.arange, np.linspace, np.ravel):
        return Kind("array", 1) if function is not np.linspace or first.tag == "scalar" else ARRAY
    same = function in (
        np.cumsum,
        np.flip,
        np.roll,
        np.sort,
        np.transpose,
        np.swapaxes,
        np.tril,
        np.triu,
        np.linalg.inv,
    )
    made = _as_array(first) if same else ARRAY
    return made if made.tag == "array" else ARRAY


def _of_builtin(function: Any, args: list[Kind], words: dict[str, Kind]) -> Kind:
    first = args[0] if args else UNKNOWN
    if function is range:
        return Kind("iterator", None, ((ANY, INTEGER),))
    if function is enumerate:
        return Kind("iterator", None, ((ANY, Kind("tuple", None, ((0, INTEGER), (1, each_of(first))))),))
    if function is zip:
        inner = tuple((place, each_of(kind)) for place, kind in enumerate(args))
        return Kind("iterator", None, ((ANY, Kind("tuple", None, inner)),))
    if function in (reversed, sorted, iter, list, tuple):
        tag = {tuple: "tuple", reversed: "iterator", iter: "iterator"}.get(function, "list")
        whole = function in (list, tuple) and first.tag in SEQUENCES
        items = first.items if whole else ((ANY, each_of(first)),) if args else ()
        return Kind(tag, None, items)
    if function is dict:
        return Kind("dict", None, tuple(words.items())) if not args else Kind("dict", None, first.items)
    if function is sum:
        return _summed(first, args)
    if function in (max, min):
        return each_of(first) if len(args) == 1 else _numeric(all_of(args))
    if function is abs:
        return first if first.tag in OF_NUMBERS else NUMERIC
    return elementwise(args) if function is pow else UNKNOWN


def _summed(first: Kind, args: list[Kind]) -> Kind:
    inner = each_of(first)
    start = args[1] if len(args) > 1 else INTEGER
    if inner.tag in SEQUENCES or start.tag in SEQUENCES:
        return start if start.tag in SEQUENCES else UNKNOWN
    return either(inner, inner) if inner.tag in ("array", "scalar") else NUMERIC if inner.tag in OF_NUMBERS else UNKNOWN


def _numeric(kind: Kind) -> Kind:
    return kind if kind.tag in OF_NUMBERS else UNKNOWN


def of_method(held: Kind, method: str, args: list[Kind]) -> Kind:
    """The kind of what a method gives of an array, a number, a list, a dict or a string."""
    if held.tag in OF_NUMBERS or held.tag == "unknown":
        return _of_arrays_method(held, method, args)
    if held.tag == "tuple":
        return INTEGER if method in ("index", "count") else UNKNOWN  # of a NamedTuple's class, perhaps
    if held.tag in SEQUENCES:
        found: Any = _ON_LISTS.get(method, UNKNOWN)
        return each_of(held) if found is ANY else held if found == "same" else found
    if held.tag == "dict":
        values = dict(held.items)
        whole = values.get(ANY) or all_of(list(values.values()))
        if method in ("keys", "values", "items"):
            key = each_of(held)
            pair = Kind("tuple", None, ((0, key), (1, whole)))
            return Kind("iterator", None, ((ANY, {"keys": key, "values": whole, "items": pair}[method]),))
        return held if method == "copy" else whole if method in ("pop", "setdefault") else UNKNOWN
    if held.tag == "string":
        return STRING if method in _TEXTS else BOOL if method in ("startswith", "endswith") else UNKNOWN
    return UNKNOWN


def _of_arrays_method(held: Kind, method: str, args: list[Kind]) -> Kind:
    function = METHODS.get(method)
    if method == "tolist":
        return Kind("list") if held.tag == "array" and held.ndim else UNKNOWN
    if function is None or method == "get":
        return UNKNOWN
    if method in ("item", "trace") and held.tag == "array" and (held.ndim or 0) < 3:
        return SCALAR
    if method in ("sum", "mean", "max", "min", "prod", "std", "var") and not args and held.tag in ("array", "scalar"):
        return NUMERIC
    if method in ("all", "any"):
        return BOOL
    if method in ("copy", "astype", "clip", "conj", "conjugate", "round", "cumsum", "cumprod", "transpose"):
        return held if held.tag == "array" else NUMERIC
    if method in ("flatten", "ravel"):
        return Kind("array", 1)
    return ARRAY if method in ("reshape", "repeat", "swapaxes", "diagonal", "nonzero", "argsort") else NUMERIC


def of_operator(op: type, left: Kind, right: Kind) -> Kind:
    """The kind of `left op right`; the operator is a class of the tree, as `gast.Add`."""
    name = op.__name__
    if left.tag in SEQUENCES and right.tag in SEQUENCES:
        if name != "Add" or left.tag != right.tag:
            return UNKNOWN
        count = len(left.items)
        exact = ANY not in dict(left.items) and ANY not in dict(right.items)
        if exact:
            return Kind(left.tag, None, (*left.items, *((count + k, kind) for k, (_, kind) in enumerate(right.items))))
        return Kind(left.tag, None, ((ANY, either(each_of(left), each_of(right))),))
    listed = left if left.tag in SEQUENCES else right if right.tag in SEQUENCES else None
    if listed is not None:
        other = right if listed is left else left
        if name == "Mult" and other.tag in ("scalar", "unknown", "bool"):
            return Kind(listed.tag, None, ((ANY, each_of(listed)),))
        return elementwise([left, right]) if other.tag in OF_NUMBERS or name not in ("Add", "Mult") else UNKNOWN
    if left.tag == "string":
        return STRING if name in ("Mod", "Add", "Mult") else UNKNOWN
    if left.tag in OF_NUMBERS and right.tag in OF_NUMBERS:
        return NUMERIC if name == "MatMult" else _arithmetic(name, left, right)
    known = left.tag if right.tag == "unknown" else right.tag if left.tag == "unknown" else ""
    if known in ("array", "numeric") or (known == "scalar" and FLOAT.dtype in (left.dtype, right.dtype)):
        return Kind("array") if known == "array" and name != "MatMult" else NUMERIC
    if known in ("unknown", "scalar") and name in ("Sub", "Div", "Pow", "MatMult", "FloorDiv"):
        return NUMERIC
    return UNKNOWN


def _arithmetic(name: str, left: Kind, right: Kind) -> Kind:
    whole = left.tag == right.tag == "scalar" and left.dtype == right.dtype == "integer" and name != "Div"
    return INTEGER if whole else elementwise([left, right])


__all__ = ["elementwise", "of_function", "of_method", "of_operator"]
