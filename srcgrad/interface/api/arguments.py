"""Arguments, examples and seeds: what kind each is, which may be differentiated, and gradients that mirror them.

Of an array on a device NumPy memory is in its place, and results are put there. What a derivative is told of its
arguments comes from annotations, or from examples (`like=`). Seeds, and tangents as results, have the dtypes of
outputs, numbers for numbers.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import sys
import types
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import TYPE_CHECKING, Any  # arguments are arbitrary objects

import gast
import numpy as np

from srcgrad.core.bindings import StaticFunction
from srcgrad.core.errors import DifferentiationError
from srcgrad.core.facts import SCALAR, UNKNOWN, Kind
from srcgrad.core.namespace import LiveNamespace
from srcgrad.core.source_text import source_of
from srcgrad.core.target import DeviceArray, is_alone, without_axes
from srcgrad.core.trees import Node, defaults_of, every_parameter, find_nodes, parameters, statements, stores, walk
from srcgrad.frontend.kinds_of_values import of_object, shadows

if TYPE_CHECKING:
    from srcgrad.module import Module
    from srcgrad.opencl.devices.device import Device

_ARRAYS = tuple(Kind("array", rank) for rank in range(65))
_COMPLEX_ARRAYS = tuple(Kind("array", rank, complex=True) for rank in range(65))
_COMPLEX = Kind("scalar", 0, complex=True)
_OTHER, _NONE = Kind("other"), Kind("none")
_HALF = Kind("scalar", 0, dtype="float16")
_NARROW = {"e": "float16"} | dict.fromkeys("?bBhHiIlLqQ", "integer")
_WIDTHS = {"f": "single"} | dict.fromkeys("diIlLqQ", "double")  # what float32 meets: int64 makes float64 of it
_REAL = np.dtype(float)
_FUNCTIONS = (
    types.FunctionType, types.BuiltinFunctionType, types.MethodType, np.ufunc, type(np.sum), functools.partial,
)  # fmt: skip
WHOLE = 0x1 | 0x400  # flags of arrays: C_CONTIGUOUS, WRITEABLE
OWN = WHOLE | 0x4  # OWNDATA
_HEAP_TYPE = 1 << 9  # a class made by a `class` statement


def kind_of(value: Any) -> Kind:
    """The kind of an argument: a number, an array of some rank, a container of kinds, or something else."""
    cls = type(value)
    if cls is np.ndarray:
        if value.dtype.kind == "c":
            return _COMPLEX_ARRAYS[int(value.ndim)]
        known = _NARROW.get(value.dtype.char, "")
        return Kind("array", int(value.ndim), dtype=known) if known else _ARRAYS[int(value.ndim)]
    if cls is np.float16:
        return _HALF
    if cls is complex or issubclass(cls, np.complexfloating):
        return _COMPLEX
    if cls is float or cls is int or cls is bool or issubclass(cls, np.generic):
        return SCALAR
    if value is None:
        return _NONE
    if isinstance(value, np.ndarray):
        raise DifferentiationError(
            "E5017",
            f"an argument of type {cls.__module__}.{cls.__name__} has arithmetic of its own",
            "pass a plain array: np.asarray(x)",
        )
    if isinstance(value, tuple | list):
        tag = "list" if isinstance(value, list) else "tuple"
        owner = cls if hasattr(cls, "_fields") else None
        return _kind_of_container(tag, [(k, kind_of(v)) for k, v in enumerate(value)], owner)
    if isinstance(value, dict):
        return _kind_of_container("dict", [(k, kind_of(v)) for k, v in value.items()])
    if isinstance(value, _FUNCTIONS) and isinstance(value, Hashable):
        return Kind("function", None, ((value, UNKNOWN),))
    if issubclass(cls, DeviceArray):
        if value.dtype.kind == "c":
            raise DifferentiationError("E5017", "a device array is complex", "pass a NumPy array: np.asarray(x)")
        return SCALAR if value.is_number else _ARRAYS[value.ndim]
    from srcgrad.analysis.dtypes import is_complex_value

    written_in_python = isinstance(cls, type) and cls.__flags__ & _HEAP_TYPE and not shadows(value)
    held = is_complex_value(value)
    if written_in_python:
        return Kind("object", None, ((cls, UNKNOWN), *_attributes(value)), complex=held)
    if isinstance(value, types.ModuleType):
        return Kind("module", None, ((value, UNKNOWN),))
    return Kind("other", complex=True) if held else _OTHER


def compiled_kind(value: object) -> Kind:
    """The kind of an argument of compiled code: of arrays and NumPy's numbers it has what makes float32 of float32."""
    value = without_axes(value)
    kind = kind_of(value)
    if kind.tag not in ("array", "scalar") or kind.complex or not isinstance(value, np.ndarray | np.generic):
        return kind
    if kind.tag == "array" and value.dtype.kind != "f":
        return kind
    return dataclasses.replace(kind, dtype=_WIDTHS.get(value.dtype.char, kind.dtype or "other"))


def _kind_of_container(tag: str, items: list[tuple[object, Kind]], owner: object = None) -> Kind:
    """The kind of a container, which is complex if an item is."""
    return Kind(tag, None, tuple(items), owner, complex=any(kind.complex for _, kind in items))


def _attributes(value: object, depth: int = 0) -> tuple[tuple[str, Kind], ...]:
    """The attributes of an object: what is asked of them is what they have, and their `*` need not be NumPy's."""
    found = []
    for name, held in getattr(value, "__dict__", {}).items():
        kind = of_object(held)
        if kind.tag == "object":
            if shadows(held):
                continue
            inner = _attributes(held, depth + 1) if depth < 2 else ()
            kind = Kind("object", None, (*kind.items, *inner))
        found.append((name, kind if kind.tag != "scalar" else SCALAR))
    return tuple(found)


def fewer(values: dict[str, object], wrt: tuple[str, ...]) -> tuple[tuple[str, tuple[tuple[str, int], ...]], ...]:
    """Arguments that are indices of rows, each with axes of one length that are no shorter than it has entries.

    >>> fewer({"x": np.ones(3), "table": np.ones((9, 2)), "other": np.ones((2, 9)), "rows": np.array([4, 4])}, ("x",))
    (('rows', (('table', 0), ('other', 1))), ('rows', (('table', 1), ('other', 0))))
    """
    arrays = {name: value for name, value in values.items() if type(value) is np.ndarray and name not in wrt}
    found = []
    for name, value in arrays.items():
        if value.ndim == 1 and value.dtype.kind in "iu":
            lengths: dict[int, list[tuple[str, int]]] = {}
            for other, whole in arrays.items():
                for axis, length in enumerate(whole.shape):
                    if other != name and whole.ndim > 1 and length >= max(value.size, 2):
                        lengths.setdefault(length, []).append((other, axis))
            found += [(name, tuple(axes)) for axes in lengths.values()]
    return tuple(found)


def is_complex(value: object) -> bool:
    """Whether a number or an array is complex."""
    return isinstance(value, complex) or getattr(getattr(value, "dtype", _REAL), "kind", "") == "c"


def check_input(value: object, name: str, others: Iterable[str] = ()) -> None:
    """Refuse an argument that cannot be differentiated: E5002 for integers and booleans, E5017 for the rest.

    `others` are the parameters of the function, by one of which it may be differentiated instead.
    """
    if isinstance(value, tuple | list | dict) or dataclasses.is_dataclass(value):
        _check_parts(value, name, others)
    elif isinstance(value, bool | int | np.bool_ | np.integer) or (
        isinstance(value, np.ndarray | DeviceArray) and value.dtype.kind in "biu"
    ):
        raise DifferentiationError(
            "E5002",
            f"the argument `{name}` is {_describe(value)}",
            f"pass floats (`float(...)`, `.astype(float)`){_by_another(name, others)}",
        )
    elif not _is_inexact(value):
        what = f"the argument `{name}` is {_describe(value)}"
        raise DifferentiationError("E5017", what, f"{_plain(value, name)}{_by_another(name, others)}")


def _plain(value: object, name: str) -> str:
    """What to pass in place of a value of a kind that is not supported."""
    if hasattr(value, "to_numpy"):  # pandas, xarray, polars
        return f"pass the array in it, `{name}.to_numpy()`"
    if has_numbers(value):
        return f"make `{type(value).__name__}` a dataclass, or pass its arrays one by one"
    return "pass numbers, arrays or containers of them"


def has_numbers(value: object) -> bool:
    """Whether a value is an object of a class in whose attributes there are numbers."""
    return any(map(_holds_inexact, getattr(value, "__dict__", {}).values()))


def _by_another(name: str, parameters: Iterable[str]) -> str:
    """The remedy to differentiate by another argument: the first of the other parameters stands for all."""
    other = next((one for one in parameters if one != name), None)
    return "" if other is None else f', or leave `{name}` out of wrt, as in `wrt="{other}"`'


def _check_parts(value: object, name: str, others: Iterable[str]) -> None:
    """A container must hold some number; what else it holds has no gradient (None), unless it is like an array."""
    odd = next((part for part in _leaves(value) if hasattr(part, "to_numpy")), None)
    if odd is not None:
        raise DifferentiationError(
            "E5017", f"the argument `{name}` holds a {type(odd).__name__}", "put in the array in it: `.to_numpy()`"
        )
    if not _holds_inexact(value):
        raise DifferentiationError(
            "E5002", f"the argument `{name}` holds no floating number", f"pass floats{_by_another(name, others)}"
        )


def _holds_inexact(value: object) -> bool:
    return any(map(_is_inexact, _leaves(value)))


def _leaves(value: object) -> Iterator[object]:
    """What containers hold, at any depth."""
    if isinstance(value, tuple | list | dict):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _leaves(part)
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        for field in dataclasses.fields(value):
            yield from _leaves(getattr(value, field.name))
    else:
        yield value


def _is_inexact(value: object) -> bool:
    if isinstance(value, np.ndarray | DeviceArray):
        return bool(value.dtype.kind in "fc")
    return isinstance(value, float | complex | np.inexact)


def _describe(value: object) -> str:
    if isinstance(value, np.ndarray | DeviceArray):
        return f"an array of dtype {value.dtype}"
    return f"of type {type(value).__name__}"


def mirrors(
    gradients: Iterable[object], places: list[int | None], values: Sequence[object], seeds: Sequence[object]
) -> list[object]:
    """Gradients that mirror the arguments at `places`, None for what is no argument, and share memory with nothing."""
    others: list[Any] = [as_memory(value) for value in (*values, *seeds) if hasattr(value, "dtype")]
    return [
        mirror(gradient, as_memory(gradient) if place is None else values[place], others)
        for gradient, place in zip(gradients, places, strict=True)
    ]


def mirror(gradient: Any, value: object, others: list[Any]) -> Any:
    """The gradient with the class, shape and dtype of its argument, in memory of its own.

    `others` lists arrays that it must not share memory with; the result is added to it.
    """
    if is_complex(gradient) and not is_complex(value) and _is_inexact(value):
        raise DifferentiationError(
            "E5017",
            "the gradient of a real argument is complex: a complex value came in where it was not seen",
            "pass what is complex as an argument, or make it with a complex dtype in the function",
        )
    if type(value) is float or type(value) is complex:
        return type(value)(gradient)
    if gradient is None:
        return None
    if isinstance(value, np.ndarray):
        return _own_array(on_host(gradient), value, others)  # beside an argument on a device
    if isinstance(value, DeviceArray):
        from srcgrad.opencl.arrays.namespace import gradient_on_device

        found = gradient_on_device(gradient, value, others) if isinstance(gradient, DeviceArray) else None
        return value.on_same_device(mirror(on_host(gradient), as_memory(value), others)) if found is None else found
    if isinstance(value, np.generic):
        return type(value)(gradient)
    if isinstance(value, dict):
        made = {k: mirror(gradient[k], v, others) for k, v in value.items()}
        return made if type(value) is dict else type(value)(made)
    if isinstance(value, tuple | list):
        if isinstance(gradient, np.ndarray) and gradient.shape and len(gradient) != len(value):
            due = f"{len(gradient)} items where {len(value)} are due"
            raise DifferentiationError("E5004", f"{due}: NumPy has read a part of a list", "pass an array")
        items = [mirror(gradient[k], v, others) for k, v in enumerate(value)]
        return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        parts = gradient if isinstance(gradient, dict) else vars(gradient)
        names = [f.name for f in dataclasses.fields(value) if f.init]
        fields = {n: mirror(parts.get(n), getattr(value, n), others) for n in names}
        return dataclasses.replace(value, **fields)
    return None


def own_array(array: np.ndarray, *others: object) -> np.ndarray:
    """The array itself if its memory is its own, whole and to be written, and it is none of `others`; else a copy."""
    flags, base = array.flags.num, array.base
    if flags & WHOLE == WHOLE and all(array is not other for other in others):
        if flags & OWN == OWN or _is_lease(base) or is_alone(base):  # views of a lease have it as their base
            return array
    return np.array(array, order="C")


def _own_array(gradient: object, value: np.ndarray, others: list[object]) -> np.ndarray:
    made = np.asarray(gradient)
    if type(gradient) is not np.ndarray and not isinstance(gradient, int | float | complex | np.generic):
        raise DifferentiationError(
            "E5017",
            f"a gradient came out as a {type(gradient).__name__}, whose arithmetic is its own",
            "give the function plain arrays: `.to_numpy()`, `np.asarray(...)`",
        )
    if made.shape != value.shape:
        raise DifferentiationError(
            "E5004",
            f"a gradient has shape {made.shape}, its argument has shape {value.shape}",
            "look at the rules that you wrote; if there are none, please report this as a bug of srcgrad",
        )
    made = own_array(made, value, *others) if made.dtype == value.dtype else made.astype(value.dtype)
    others.append(made)
    return made


def named_parameters(function: StaticFunction, wrt: tuple[str, ...]) -> tuple[str, ...]:
    """Those of the names that are parameters of a function, or local variables; E5009 if none is a parameter or all."""
    own = parameters(function.source.tree)
    found = tuple(name for name in wrt if name in own)
    if set(wrt) <= {*own, *_local_names(function)}:
        return wrt
    if not found:
        message = f"{function.qualname} has no parameter {' or '.join(wrt)}"
        raise DifferentiationError("E5009", message, f"its parameters are: {', '.join(own) or 'none'}")
    return found


def check_names(functions: list[StaticFunction], wrt: tuple[str, ...] | None) -> None:
    """E5009 for a name in `wrt` that no function has, or that is there twice."""
    known = [name for function in functions for name in parameters(function.source.tree)]
    inner = {name for function in functions for name in _local_names(function)}
    for name in wrt or ():
        if (name not in known and name not in inner) or (wrt or ()).count(name) > 1:
            message = f"{name} is named twice" if (wrt or ()).count(name) > 1 else f"no parameter is called {name!r}"
            listed = ", ".join(dict.fromkeys(known)) or "none"
            raise DifferentiationError("E5009", message, f"the parameters are: {listed}")


def _local_names(function: StaticFunction) -> set[str]:
    """Names that the assignments of a function bind."""
    return {name for node in statements(function.source.tree.body) for name in stores(node)}


def active_parameters(
    function: StaticFunction, kinds: dict[str, Kind], module: Module | None = None
) -> tuple[str, ...]:
    """The parameters through which a derivative can flow into the result; E5002 if there is none.

    Left out are those whose default or annotation is an integer, boolean, string or None, and those that
    are read as an index, a slice or the bound of a range, which must be integers.
    `module` knows the sources of callees; a derivative with respect to just these goes on from what is found here.
    """
    from srcgrad.analysis.activity import activity
    from srcgrad.module import Module
    from srcgrad.pipeline import BegunFunction, prepare_facts, until

    tree = function.source.tree
    whole = discrete(function)
    wanted = tuple(name for name in parameters(tree) if name not in whole)
    module = module or Module()
    begun = BegunFunction(*prepare_facts(*module.source(function), "reverse", wanted, kinds, module))
    begun.advance(until(activity))
    found = tuple(name for name in wanted if name in begun.facts.activity.active)
    if not found:
        raise DifferentiationError(
            "E5002",
            f"no derivative flows from a parameter of {function.qualname} to its result",
            "name the parameters with --wrt if there are some",
        )
    if found == wanted:
        module.begin(function, kinds, begun)
    return found


def discrete(function: StaticFunction) -> frozenset[str]:
    """Parameters for which no float is given, told from defaults, annotations, calls, uses as indices and bounds."""
    from srcgrad.analysis.argument_kinds import built_in

    tree = function.source.tree
    defaults = defaults_of(tree).items()
    found = {one for one, value in defaults if isinstance(value, gast.Constant) and not _is_float(value.value)}
    found |= {p.id for p in every_parameter(tree) if built_in(p, function.module) in ("int", "bool", "str")}
    for node in walk(tree):
        if isinstance(node, gast.Subscript):
            found |= _names(node.slice)
        elif isinstance(node, gast.Call) and getattr(node.func, "id", None) == "range":
            found |= {name for argument in node.args for name in _names(argument)}
    return frozenset(found | _called(tree))


def _called(tree: Node) -> set[str]:
    """Names that are called, and those of which such are items: the layers of a loop, a table of functions."""
    calls = [node.func for node in find_nodes(tree, gast.Call)]
    called: set[str] = set()
    found = {base.id for one in calls if isinstance(base := _base(one), gast.Name)}
    while not found <= called:
        called |= found
        loops = [(node.target, node.iter) for node in find_nodes(tree, gast.For, gast.comprehension)]
        bound = [(part, node.value) for node in find_nodes(tree, gast.Assign) for part in node.targets]
        taken = [_base(value) for part, value in [*loops, *bound] if isinstance(part, gast.Name) and part.id in called]
        found = {base.id for base in taken if isinstance(base, gast.Name)}
    return called


def _base(node: Node) -> Node:
    """`a` of `a[i]`; anything else as it is."""
    return _base(node.value) if isinstance(node, gast.Subscript) else node


def _is_float(value: object) -> bool:
    return isinstance(value, float | complex)


def _names(node: Node) -> set[str]:
    """Names that are integers if an expression is: itself, or what it computes with + - * // %."""
    if isinstance(node, gast.Name):
        return {node.id}
    parts: list[Node] = []
    if isinstance(node, gast.BinOp):
        parts = [node.left, node.right]
    elif isinstance(node, gast.UnaryOp):
        parts = [node.operand]
    elif isinstance(node, gast.Tuple):
        parts = node.elts
    elif isinstance(node, gast.Slice):
        parts = [part for part in (node.lower, node.upper, node.step) if part is not None]
    return {name for part in parts for name in _names(part)}


_ORDER = "nmkpqrstuvwabcdefghijl"


def declared_of(
    primal: object, signature: inspect.Signature, bound: tuple[object, ...], like: object
) -> dict[str, Kind]:
    """The kinds that examples, or else annotations, declare; E5027 for examples that are no arguments."""
    if like is not None:
        given = like if isinstance(like, tuple) else (like,)
        try:
            found = signature.bind(*bound, *given)
        except TypeError as error:
            message = f"like= holds {len(given)} examples: {error}"
            raise DifferentiationError("E5027", message, "give one example per argument, in their order") from None
        found.apply_defaults()
        return {name: kind for name, kind in like_arguments(found.arguments).items() if kind is not UNKNOWN}
    if not inspect.isfunction(primal) or all(p.annotation is p.empty for p in signature.parameters.values()):
        return {}
    from srcgrad.analysis.argument_kinds import kinds_of_annotations

    try:
        return kinds_of_annotations(source_of(primal).tree, LiveNamespace(primal))
    except DifferentiationError:  # without source there is no derivative: it is said where one is made
        return {}


def like_arguments(values: dict[str, object]) -> dict[str, Kind]:
    """The kinds of example arguments: equal lengths are one symbol, a length of 1 stays 1."""
    symbols: dict[int, str] = {1: "1"}
    return {parameter: _kind_like(value, symbols) for parameter, value in values.items()}


def _kind_like(value: Any, symbols: dict[int, str]) -> Kind:
    from srcgrad.analysis.argument_kinds import FLOATING

    kind = kind_of(value)
    if kind.tag == "scalar":  # `np.uint8(3)` and `np.float32(3)` are numbers, but no floats
        return replace(kind, dtype=kind.dtype or FLOATING) if isinstance(value, int | float | complex) else kind
    if kind.tag == "array":
        for length in value.shape:
            symbols.setdefault(length, _symbol(len(symbols) - 1))
        lengths, single = tuple(symbols[length] for length in value.shape), value.dtype == np.float32
        return replace(kind, dtype=kind.dtype or FLOATING, shape=lengths, single=single)
    if kind.tag in ("tuple", "list", "dict") and kind.owner is None:
        parts: Any = value.items() if isinstance(value, dict) else enumerate(value)
        return replace(kind, items=tuple((key, _kind_like(part, symbols)) for key, part in parts))
    return kind if kind.tag == "object" or kind.owner is not None else UNKNOWN


def _symbol(place: int) -> str:
    return _ORDER[place] if place < len(_ORDER) else f"n{place}"


def refine_kinds(
    kinds: dict[str, Kind], declared: dict[str, Kind], given: Sequence[object], *, fixed: bool
) -> dict[str, Kind]:
    """The kinds of arguments with the shapes that are declared for them; `fixed` if examples say all.

    Without a common dtype, float64, they stay as they are: what holds for any arrays holds for these.
    """
    if fixed or not declared:
        return {**kinds, **declared} if declared else kinds
    from srcgrad.analysis.argument_kinds import FLOATING

    values, found = dict(zip(kinds, given, strict=True)), {}
    for parameter, wanted in declared.items():
        kind, value = kinds[parameter], values[parameter]
        if wanted.shape is None or kind.tag not in ("array", "scalar"):
            continue
        dtype = np.dtype(getattr(value, "dtype", float))
        if dtype.kind == "f" and dtype != np.float64:
            return kinds
        made = replace(kind, tag="array", ndim=wanted.ndim, dtype=kind.dtype or FLOATING, shape=wanted.shape)
        found[parameter] = made
    return {**kinds, **found}


_NUMPYS = (np.ndarray, np.generic)


def like_output(tangent: Any, output: object) -> Any:
    """The tangent of a number as a number, a 0-d array is unpacked; that of an array in its dtype."""
    if isinstance(output, tuple):
        parts = [like_output(t, y) for t, y in zip(tangent, output, strict=True)]
        return type(output)(*parts) if hasattr(output, "_fields") else tuple(parts)
    if type(output) is list and type(tangent) is list:
        return [like_output(t, y) for t, y in zip(tangent, output, strict=True)]
    if type(output) is float and isinstance(tangent, np.floating):
        return float(tangent)  # `math.cos` of a float32 is a number of Python
    if isinstance(tangent, np.ndarray) and tangent.ndim == 0 and not isinstance(output, np.ndarray):
        return tangent[()]
    if isinstance(output, np.ndarray) and not isinstance(tangent, np.ndarray | list | tuple | dict):
        return np.asarray(tangent, dtype=output.dtype)
    if is_complex(output) and not is_complex(tangent):
        return np.asarray(tangent, output.dtype)[()] if hasattr(output, "dtype") else complex(tangent)
    if isinstance(tangent, _NUMPYS) and isinstance(output, _NUMPYS) and tangent.dtype.kind == output.dtype.kind == "f":
        return tangent.astype(output.dtype, copy=False)  # `scipy.linalg.det` of float32 is float64
    return tangent


def cast_seed(seed: object, output: object) -> object:
    """The seed in the dtype of the output; E5014 if its shape differs."""
    return _cast(seed, output, False)


def cast_tangent(tangent: object, argument: object) -> object:
    """The tangent in the dtype of the argument, 0 for an integer part, which is a constant; E5014 as for a seed.

    >>> cast_tangent((1.0, 1.0), (2.0, 3))
    (1.0, 0.0)
    """
    return _cast(tangent, argument, True)


def _cast(seed: Any, output: Any, steady: bool) -> object:
    """A seed or a tangent in the dtype of a value; 0 for integers, if these are `steady`."""
    if isinstance(output, dict):
        if not isinstance(seed, dict) or seed.keys() != output.keys():
            raise DifferentiationError("E5014", "the keys of the seed are not those of the output", "make them equal")
        return {key: _cast(seed[key], part, steady) for key, part in output.items()}
    if dataclasses.is_dataclass(output) and not isinstance(output, type):
        if type(seed) is not type(output):
            raise DifferentiationError("E5014", f"the seed is no {type(output).__name__}", "pass one")
        names = [f.name for f in dataclasses.fields(output) if f.init]
        return dataclasses.replace(seed, **{n: _cast(getattr(seed, n), getattr(output, n), steady) for n in names})
    if isinstance(output, tuple | list):
        if not isinstance(seed, tuple | list) or len(seed) != len(output):
            raise DifferentiationError(
                "E5014", f"the output has {len(output)} parts, the seed has not", "pass a tuple of seeds"
            )
        parts = [_cast(s, y, steady) for s, y in zip(seed, output, strict=True)]
        return parts if isinstance(output, list) else tuple(parts)
    if output is None or isinstance(output, str):
        return None
    if is_complex(seed) and not is_complex(output):
        raise DifferentiationError("E5017", "a seed or tangent of something real is complex", "pass real numbers")
    if type(seed) is float and isinstance(output, float):
        return seed
    wanted = np.shape(output)
    if seed is None and np.asarray(output).dtype.kind not in "fc":
        seed = np.zeros(wanted)  # as gradients have it of what is no floating number
    if np.shape(seed) != wanted:
        raise DifferentiationError(
            "E5014",
            f"the seed has shape {np.shape(seed)}, the output has shape {wanted}",
            "pass an array of that shape",
        )
    if seed is None:
        raise DifferentiationError("E5014", "a part of the seed is None, where the output is a number", "pass 0.0")
    if isinstance(output, np.ndarray | np.generic) and output.dtype.kind in "fc":
        return np.asarray(seed, dtype=output.dtype)[()] if not wanted else np.asarray(seed, dtype=output.dtype)
    if isinstance(output, complex):
        return complex(seed)
    if steady and not isinstance(output, float):
        return np.zeros(wanted) if wanted else 0.0
    return float(seed) if not wanted else np.asarray(seed, dtype=float)


_PLAIN = (np.ndarray, float, int, np.float64, np.float32, bool, str, type(None))  # what holds no device array


def device_in(values: Iterable[object]) -> Device | None:
    """The device of the arrays among values and in containers there; None if there are none, E5020 if there are two."""
    arrays: list[DeviceArray] = []
    for value in values:
        if type(value) in _PLAIN or (isinstance(value, list | tuple) and all(type(part) in _PLAIN for part in value)):
            continue
        _replace_arrays(value, arrays.append)
    if not arrays:
        return None
    from srcgrad.opencl.arrays.array import device_of

    device_of(arrays)
    device: Device = arrays[0].device
    return device


def on_host(value: object) -> Any:
    """A value with NumPy memory in place of device arrays: on a CPU device, that in which they are."""
    return value if type(value) in _PLAIN else _replace_arrays(value, _read)


def as_memory(value: object) -> object:
    """A value with NumPy memory in place of device arrays, of which only shape and dtype are to be looked at."""
    return value if type(value) in _PLAIN else _replace_arrays(value, _memory_of_array)


def are_direct(values: Iterable[object]) -> bool:
    """Whether device arrays are arguments themselves, none a part of one: a text can then run on them."""
    return not any(_map_parts(value, as_memory) is not value for value in values if not isinstance(value, DeviceArray))


def on_device(found: object, device: Device | None) -> Any:
    """Results on a device, if there is one: arrays, and numbers of NumPy's as arrays without axes."""
    if device is None:
        return found
    if isinstance(found, np.ndarray | np.generic):
        from srcgrad.opencl.arrays.namespace import placed_number

        return placed_number(found, device)
    return _map_parts(found, lambda part: on_device(part, device))


def _read(array: DeviceArray) -> object:
    return array.read()[()] if array.is_number else array.read()


def _memory_of_array(array: DeviceArray) -> object:
    return array.memory[()] if array.is_number else array.memory


def _replace_arrays(value: object, change: Callable[[DeviceArray], object]) -> object:
    """A value with something else in place of each device array; itself if there are none."""
    if type(value) in _PLAIN:
        return value
    if isinstance(value, DeviceArray):
        return change(value)
    return _map_parts(value, lambda part: _replace_arrays(part, change))


def _map_parts(value: object, change: Callable[[object], object]) -> object:
    """A container with its parts changed; itself if none of them changes, or if it is none."""
    if isinstance(value, tuple | list):
        parts = [change(part) for part in value]
        if all(one is other for one, other in zip(parts, value, strict=True)):
            return value
        container: Callable[..., object] = type(value)
        return container(*parts) if hasattr(value, "_fields") else container(parts)
    if isinstance(value, dict):
        items = {key: change(part) for key, part in value.items()}
        return items if any(items[key] is not part for key, part in value.items()) else value
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        names = [field.name for field in dataclasses.fields(value) if field.init]
        made = {name: change(getattr(value, name)) for name in names}
        same = all(part is getattr(value, name) for name, part in made.items())
        return value if same else dataclasses.replace(value, **made)
    return value


def _is_lease(base: object) -> bool:
    """Whether an array lies on memory that OpenCL lends."""
    memory = sys.modules.get("srcgrad.opencl.devices.device")
    return memory is not None and isinstance(base, memory.Lease)


def using(device: Device) -> AbstractContextManager[None]:
    """Run kernels on a device, in this thread, until the block ends."""
    from srcgrad.opencl.devices import trusted

    return trusted.using(device)
