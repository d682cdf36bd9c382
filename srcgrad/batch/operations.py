"""Calls with a leading axis: as a rule says, elementwise ones as they are, unknown ones once for each direction."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any  # functions are arbitrary objects

import gast
import numpy as np

from srcgrad import runtime
from srcgrad.batch.calls import Call, Lifted, UnknownFormError, bound
from srcgrad.batch.values import NUMBER, UNKNOWN, NoAxisError, Value
from srcgrad.front.resolve import METHODS
from srcgrad.rules import rule_of
from srcgrad.trees import Node, expression, name

if TYPE_CHECKING:
    from srcgrad.batch.expressions import Expressions

Rule = Callable[["Expressions", Call], Lifted]
RULES: dict[Any, tuple[tuple[str, ...], Rule]] = {}
IMPURE = (runtime.hooked, runtime.hook, runtime.add_at, runtime.probe, runtime.probed, runtime.Snapshots)


def rule(parameters: str, *functions: Any) -> Callable[[Rule], Rule]:
    """Register how calls of some functions get a leading axis, with the names of their parameters."""

    def keep(function: Rule) -> Rule:
        RULES.update(dict.fromkeys(functions, (tuple(parameters.split()), function)))
        return function

    return keep


def method(text: Expressions, node: Node) -> Lifted:
    """A call of a method, as the function that it is."""
    base, value = text.look(node.func.value)
    attribute = node.func.attr
    if value.tag == "list" and attribute == "pop" and not node.args:
        return node, value.any_item()
    if attribute == "copy" and (value.batched or value.container):
        return (expression("x.copy()", x=base) if value.batched else node), value
    function = METHODS.get(attribute)
    if function is None or value.container:
        if value.batched or any(text.look(part)[1].batched for part in node.args):
            raise text.refuse(f"the method `{attribute}` is not understood", node)
        return node, UNKNOWN
    args = list(node.args)
    if attribute in ("reshape", "transpose") and (len(args) > 1 or (attribute == "transpose" and args)):
        args = [gast.Tuple(elts=args, ctx=gast.Load())] if len(args) > 1 else args
    spelled = getattr(function, "__name__", attribute)
    call = gast.Call(
        func=text.np(f"np.{'ravel' if spelled == 'flatten' else spelled}"), args=[node.func.value, *args],
        keywords=node.keywords,
    )  # fmt: skip
    lifted = [(base, value), *map(text.own, args)]
    made, found = call_of(text, call, function, lifted)
    return (made, found) if found.batched else (node, found)


def call_of(text: Expressions, node: Node, function: Any, args: list[Lifted]) -> Lifted:
    """A call of a function, with its arguments."""
    words = [text.own(word.value) for word in node.keywords]
    found = RULES.get(function) if _hashable(function) else None
    known = rule_of(function) if _hashable(function) else None
    if found is not None:
        try:
            call = bound(node, function, found[0], args, words)
        except UnknownFormError:
            return one_by_one(text, node, function, args, words)
        return applied(text, found[1], call, node)
    wide = isinstance(function, np.ufunc) or (known is not None and known.kind == "elementwise")
    if wide and not words and (_home(function) in ("numpy", "scipy") or function in (abs, pow)):
        made, value = text.elementwise(args, node)
        called = gast.Call(node.func, made, []) if value.batched else node
        several = getattr(function, "nout", 1)  # np.modf, scipy.special.fresnel
        items = tuple((place, value) for place in range(several))
        return called, value if several == 1 else Value(None, value.batched, "tuple", items)
    if function is not None and _home(function) == "math":
        return node, NUMBER
    return one_by_one(text, node, function, args, words)


def applied(text: Expressions, using: Rule, call: Call, node: Node) -> Lifted:
    """What a rule makes of a call; once for each direction where it does not know the form."""
    if not any(value.batched for _, value in call.given.values()):
        try:
            return node, using(text, call)[1]
        except (UnknownFormError, NoAxisError):
            return node, UNKNOWN
    try:
        return using(text, call)
    except UnknownFormError:
        return stacked(text, call)


def stacked(text: Expressions, call: Call) -> Lifted:
    """A call made once for each direction."""
    args = [call.given[p] for p in call.parameters[: len(call.node.args)]]
    words = [call.given[word.arg] for word in call.node.keywords]
    function = np.matmul if call.function is operator.matmul else call.function
    return one_by_one(text, call.node, function, args, words)


def one_by_one(text: Expressions, node: Node, function: Any, args: list[Lifted], words: list[Lifted]) -> Lifted:
    """`np.stack([op(one, a) for one in x_dot])`: right for every function that only computes."""
    lifted = [*args, *words]
    if not any(value.batched for _, value in lifted):
        return node, UNKNOWN
    if function is None or _home(function) not in ("numpy", "scipy", "srcgrad") or function in IMPURE:
        raise text.refuse(f"`{gast.unparse(node.func)}` is called", node)
    if any(value.batched and (value.container or value.tag in ("other", "unknown")) for _, value in lifted):
        raise text.refuse(f"`{gast.unparse(node.func)}` takes a list of tangents", node)
    sources: list[Node] = []
    parts: list[Node] = []
    for made, value in lifted:
        if value.batched:
            if len(text.axis.spare) == len(sources):
                text.axis.spare.append(text.facts.names.fresh("one"))
            parts.append(name(text.axis.spare[len(sources)]))
            sources.append(made)
        else:
            parts.append(made)
    call = gast.Call(func=node.func, args=parts[: len(args)], keywords=[])
    for word, part in zip(node.keywords, parts[len(args) :], strict=True):
        call.keywords.append(gast.keyword(arg=word.arg, value=part))
    spelled = f"np.stack([call for {', '.join(text.axis.spare[: len(sources)])} in source])"
    source = sources[0] if len(sources) == 1 else text.builtin("zip()")
    if len(sources) > 1:
        source.args = sources
    return text.np(spelled, call=call, source=source), Value(None, True)


def _home(function: Any) -> str:
    """The package of a function; of ours, only what generated texts may call counts."""
    module = getattr(function, "__module__", None) or type(function).__module__
    package = module.split(".")[0]
    return package if package != "srcgrad" or module.startswith("srcgrad.runtime") else ""


def _hashable(function: Any) -> bool:
    try:
        hash(function)
    except TypeError:
        return False
    return True
