"""With respect to what: the parameters of a function through which a derivative can flow, from its text."""

from __future__ import annotations

import gast

from srcgrad.analyse.active import activity
from srcgrad.analyse.annotations import built_in, every_parameter
from srcgrad.errors import DifferentiationError
from srcgrad.facts import Kind
from srcgrad.front.static import StaticFunction
from srcgrad.front.webs import parameters
from srcgrad.modules import Module
from srcgrad.pipeline import MODES, Begun, prepared
from srcgrad.trees import Node, statements, stores, walk


def named(function: StaticFunction, wrt: tuple[str, ...]) -> tuple[str, ...]:
    """Those of the names that are parameters of a function, or local variables; E5009 if none is a parameter or all."""
    own = parameters(function.source.tree)
    found = tuple(name for name in wrt if name in own)
    if set(wrt) <= {*own, *_local(function)}:
        return wrt
    if not found:
        message = f"{function.qualname} has no parameter {' or '.join(wrt)}"
        raise DifferentiationError("E5009", message, f"its parameters are: {', '.join(own) or 'none'}")
    return found


def check_names(functions: list[StaticFunction], wrt: tuple[str, ...] | None) -> None:
    """E5009 for a name in `wrt` that no function has, or that is there twice."""
    known = [name for function in functions for name in parameters(function.source.tree)]
    inner = {name for function in functions for name in _local(function)}
    for name in wrt or ():
        if (name not in known and name not in inner) or (wrt or ()).count(name) > 1:
            message = f"{name} is named twice" if (wrt or ()).count(name) > 1 else f"no parameter is called {name!r}"
            listed = ", ".join(dict.fromkeys(known)) or "none"
            raise DifferentiationError("E5009", message, f"the parameters are: {listed}")


def _local(function: StaticFunction) -> set[str]:
    """Names that the assignments of a function bind."""
    return {name for node in statements(function.source.tree.body) for name in stores(node)}


def active(function: StaticFunction, kinds: dict[str, Kind], module: Module | None = None) -> tuple[str, ...]:
    """The parameters through which a derivative can flow into the result; E5002 if there is none.

    Left out are those whose default or annotation is an integer, boolean, string or None, and those that
    are read as an index, a slice or the bound of a range, which must be integers.
    `module` knows the sources of callees; a derivative with respect to just these goes on from what is found here.
    """
    tree = function.source.tree
    whole = discrete(function)
    wanted = tuple(name for name in parameters(tree) if name not in whole)
    module = module or Module()
    begun = Begun(*prepared(*module.source(function), "reverse", wanted, kinds, module))
    begun.advance(MODES["reverse"][: MODES["reverse"].index(activity) + 1])
    found = tuple(name for name in wanted if name in begun.facts.active)
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
    """Parameters for which no float is given, told from defaults, annotations, uses as indices and bounds."""
    tree = function.source.tree
    positional = [*tree.args.posonlyargs, *tree.args.args]
    last = positional[len(positional) - len(tree.args.defaults) :]
    defaults = [
        *zip(last, tree.args.defaults, strict=True),
        *zip(tree.args.kwonlyargs, tree.args.kw_defaults, strict=True),
    ]
    found = {p.id for p, value in defaults if isinstance(value, gast.Constant) and not _is_float(value.value)}
    found |= {p.id for p in every_parameter(tree) if built_in(p, function.module) in ("int", "bool", "str")}
    for node in walk(tree):
        if isinstance(node, gast.Subscript):
            found |= _names(node.slice)
        elif isinstance(node, gast.Call) and getattr(node.func, "id", None) == "range":
            found |= {name for argument in node.args for name in _names(argument)}
    return frozenset(found)


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
