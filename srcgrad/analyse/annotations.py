"""What annotations tell of parameters: numbers, shapes such as `"n d"` or `Float[Array, "n d"]`, complex types."""

from __future__ import annotations

import re
from dataclasses import replace

import gast
import numpy as np

from srcgrad.analyse.sources import dotted, is_complex_value
from srcgrad.converted import parsed
from srcgrad.facts import SCALAR, Kind
from srcgrad.front.namespace import Namespace
from srcgrad.trees import Node, walk

FLOATING = "floating"  # the dtype that all declared arguments share
_DIMENSIONS = re.compile(r"\s*(?:\d+|[A-Za-z_]\w*)(?:\s+(?:\d+|[A-Za-z_]\w*))*\s*\Z")
_DTYPES = ("float", "float16", "float64", "integer", "complex")


def annotated(tree: Node, namespace: Namespace) -> dict[str, Kind]:
    """What annotations tell of parameters: numbers, shapes such as `"n d"`, types such as `NDArray[complex]`."""
    found = {}
    for parameter in every_parameter(tree):
        if parameter.annotation is None:
            continue
        shaped = declared_shape(parameter.annotation, namespace)
        is_complex = _names_complex(parameter.annotation, namespace)
        if built_in(parameter, namespace) in ("float", "int"):
            found[parameter.id] = SCALAR
        elif shaped is not None:
            found[parameter.id] = replace(shaped, complex=shaped.complex or is_complex)
        elif is_complex:
            number = isinstance(parameter.annotation, gast.Name | gast.Attribute | gast.Constant)
            found[parameter.id] = Kind("scalar", 0, complex=True) if number else Kind(complex=True)
    return numbers(found, tree)


def _names_complex(annotation: Node, namespace: Namespace) -> bool:
    """Whether an annotation names a complex type anywhere."""
    if isinstance(annotation, gast.Constant):
        try:
            annotation = parsed(str(annotation.value), "eval").body
        except SyntaxError:
            return False
    names = [node for node in walk(annotation) if isinstance(node, gast.Name | gast.Attribute)]
    return any(is_complex_value(getattr(dotted(node, namespace), "object", None)) for node in names)


def every_parameter(tree: Node) -> list[Node]:
    """The parameters of a function, as its tree has them."""
    arguments = tree.args
    return [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]


def built_in(parameter: Node, namespace: Namespace) -> str:
    """The built-in type that a parameter is annotated with; empty if there is none."""
    node = parameter.annotation
    spelled = getattr(node, "id", None) or getattr(node, "value", None)
    if not isinstance(spelled, str) or spelled not in ("float", "int", "bool", "str"):
        return ""
    found = namespace.lookup(spelled)
    return spelled if found is not None and isinstance(found.object, type) else ""


def declared_shape(annotation: Node, namespace: Namespace) -> Kind | None:
    """The kind that an annotation such as `"n d"` or `Float[Array, "n d"]` declares; None if it declares no shape."""
    if isinstance(annotation, gast.Constant) and isinstance(annotation.value, str):
        text = annotation.value
        if "[" in text:
            try:
                return declared_shape(parsed(text, "eval").body, namespace)
            except SyntaxError:
                return None
        return None if _is_type(text.strip(), namespace) or not text.strip() else _shaped(text, "")
    if isinstance(annotation, gast.Subscript) and isinstance(annotation.slice, gast.Tuple):
        head = annotation.value
        spelled = getattr(head, "attr", getattr(head, "id", ""))
        parts = annotation.slice.elts
        whole = len(parts) == 2 and not isinstance(parts[0], gast.Constant) and isinstance(parts[1], gast.Constant)
        if whole and isinstance(parts[1].value, str) and spelled not in ("Literal", "dict", "tuple", "Callable"):
            return _shaped(parts[1].value, spelled)
    return None


def _is_type(text: str, namespace: Namespace) -> bool:
    """Whether a word is the name of a type, not of a length: a forward reference."""
    if not text.isidentifier():
        return False
    known = namespace.lookup(text)
    value = known is not None and (known.kind == "value" or isinstance(known.object, int | float | np.ndarray))
    if (known is not None and not value) or (len(text) > 1 and text[0].isupper()):
        return True
    return text == "array" or isinstance(getattr(np, text, None), type)


def _shaped(text: str, head: str) -> Kind | None:
    """The kind of an array whose lengths a text gives; `_` is a length of its own. None for what is no such text."""
    if (text.strip() and not _DIMENSIONS.match(text)) or set(text.split()) & set(_DTYPES):
        return None
    dims = [dim if dim != "_" else f"_{place}" for place, dim in enumerate(text.split())]
    dtype = {"Float16": "float16", "Float64": "float64"}.get(head, FLOATING)
    if head.startswith(("Int", "UInt", "Bool")):
        dtype = "integer"
    return Kind("array", len(dims), dtype=dtype, complex=head.startswith("Complex"), shape=tuple(dims))


def is_declared(kind: Kind) -> bool:
    """Whether a kind is a declaration, which must be checked where the text begins."""
    return kind.shape is not None or kind.dtype in (FLOATING, "float64") or any(is_declared(k) for _, k in kind.items)


def numbers(kinds: dict[str, Kind], tree: Node) -> dict[str, Kind]:
    """Numbers known by annotation; one that is read elsewhere than as a bound or an index must be checked."""
    counted: set[int] = set()
    for node in walk(tree):
        if isinstance(node, gast.Call) and getattr(node.func, "id", "") == "range":
            counted |= {id(item) for argument in node.args for item in walk(argument)}
        elif isinstance(node, gast.Subscript):
            counted |= {id(item) for item in walk(node.slice)}
    read = {
        n.id for n in walk(tree) if isinstance(n, gast.Name) and isinstance(n.ctx, gast.Load) and id(n) not in counted
    }
    plain = {p: kind for p, kind in kinds.items() if kind == SCALAR and p in read}
    return {**kinds, **{p: replace(kind, dtype=FLOATING) for p, kind in plain.items()}}
