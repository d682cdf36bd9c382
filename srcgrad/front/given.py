"""The arguments of a call that is written out: by parameter, and bound to the names that these have in the caller."""

from __future__ import annotations

from typing import Any  # functions are arbitrary objects

import gast

from srcgrad.facts import Facts
from srcgrad.front.changing import is_change
from srcgrad.front.defaults import default_of
from srcgrad.front.functions import Function
from srcgrad.front.procedures import Procedures, entering
from srcgrad.front.unshared import is_fresh
from srcgrad.front.webs import parameters
from srcgrad.trees import Block, Node, assign, at, is_write, statements, stores


def arguments_of(call: Node, tree: Node, found: Function, facts: Facts) -> dict[str, Node]:
    """The arguments of a call by parameter; what is left over goes to `*args`, defaults to what is not given."""
    arguments = tree.args
    positional = [a.id for a in arguments.posonlyargs + arguments.args]
    every = positional + [a.id for a in arguments.kwonlyargs]
    given = dict(zip(positional, call.args, strict=False)) | {w.arg: w.value for w in call.keywords}
    rest = call.args[len(positional) :]
    if (rest and arguments.vararg is None) or any(n not in every for n in given):
        raise facts.refuse(
            call, "E5005", "the arguments do not fit the function's parameters", f"it takes: {', '.join(every)}"
        )
    for parameter in every:
        value = given.get(parameter)
        if value is None:
            value = default_of(parameter, tree, found, facts)
        if value is None:
            raise facts.refuse(
                call, "E5008", f"the argument `{parameter}` is missing", f"the function takes: {', '.join(every)}"
            )
        given[parameter] = value
    made = {parameter: given[parameter] for parameter in every}
    if arguments.vararg is not None:
        made[arguments.vararg.id] = at(gast.Tuple(elts=rest, ctx=gast.Load()), call)
        arguments.vararg = None
    return made


def bind(
    given: dict[str, Node],
    call: Node,
    tree: Node,
    found: Function,
    spelled: dict[str, str],
    where: Node,
    before: Block,
    facts: Facts,
) -> None:
    """Assign the arguments to the callee's parameters."""
    changes = Procedures(facts).changed(found.called) if found.tree is None else _changed(tree)
    for parameter, value in given.items():
        bound = spelled.get(parameter)
        if _shares_name(parameter, value, tree, parameter in changes, call, facts):
            spelled[parameter] = value.id
            continue
        if bound is None:
            bound = spelled[parameter] = facts.names.numbered(parameter)
        made = at(assign(bound, value), where)
        facts.foreign[made] = None
        before.append(made)


def _changed(tree: Node) -> dict[str, None]:
    writes = [(node, part) for node in statements(tree.body) if is_write(node) for part in stores(node)]
    return entering(writes, tree, parameters(tree))


def _shares_name(parameter: str, value: Node, tree: Node, changes: bool, call: Node, facts: Facts) -> bool:
    """Whether a parameter goes by the name of its argument: one array, which the function may write into."""
    bound = {s for n in statements(tree.body) for s in stores(n) if not is_write(n) and not is_change(n, s)}
    if isinstance(value, gast.Name) and parameter not in bound and value.id not in bound:
        return True
    if isinstance(value, gast.BinOp | gast.UnaryOp) or (isinstance(value, gast.Call) and is_fresh(value, facts)):
        return False  # a new array, which nothing else holds
    if changes and not (parameter not in bound and isinstance(value, gast.Subscript | gast.Attribute)):
        raise facts.refuse(
            value if "lineno" in value.__dict__ else call,
            "E5010",
            f"the called function writes into its argument `{parameter}`, which is not an array with a name here",
            "bind the array to a name, pass that, and do not bind the parameter anew in the function",
        )
    return False


def taken_as_real(function: Any) -> tuple[str, ...]:
    """The parameters of a derivative with a text that were taken to be real when that text was made."""
    for mark in ("__srcgrad_real__", "real"):
        found = getattr(function, mark, None)
        if isinstance(found, tuple):
            return found
    return ()


def note_real(given: dict[str, Node], found: Function, spelled: dict[str, str], inner: Facts, facts: Facts) -> None:
    """The text of a derivative that a function calls was made for real arguments: `complexes` sees to it."""
    real = () if found.tree is not None else taken_as_real(found.called)
    assumed = [*inner.assumed_real, *(p for p in given if p in real)]
    facts.assumed_real.update({spelled.get(one, one): None for one in assumed})
