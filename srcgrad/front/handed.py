"""Functions that operations are given, `odeint(rhs, y0, t)`: what they read of the function around becomes `args`."""

from __future__ import annotations

import inspect

import gast

import srcgrad.templates as templates
from srcgrad.converted import parsed
from srcgrad.facts import Facts
from srcgrad.front.derived import Closed, closed
from srcgrad.front.functions import Function, function_of
from srcgrad.front.namespace import Binding
from srcgrad.front.resolve import binding_of
from srcgrad.front.written_out import Site
from srcgrad.handed import Handed
from srcgrad.identity import home
from srcgrad.rules import rule_of
from srcgrad.trees import Node, at, copy, name, walk


def handed_of(call: Node, facts: Facts, local: frozenset[str]) -> Handed | None:
    """How the operation of a call treats a function that it is given; None if it takes none."""
    found = binding_of(call.func, facts, local) if isinstance(call, gast.Call) else None
    if found is None or found.kind != "object" or found.static is not None:
        return None
    module = home(found.object) or ""
    if not module.startswith(("scipy.", "srcgrad.runtime")):
        return None
    if rule_of(found.object) is None:
        templates.load_for(module)
    rule = rule_of(found.object)
    return None if rule is None else rule.handed


def hand_over(call: Node, where: Node, site: Site) -> None:
    """Let the function in a call of such an operation be one of the module, with all that it reads as arguments."""
    handed = handed_of(call, site.facts, site.local)
    slot = None if handed is None else _argument(call, handed.parameter, site)
    if handed is None or slot is None:
        return
    found = function_of(slot, site.facts, site.local)
    if found is None or found.wanted is not None:
        return
    if found.args or found.words or (found.binding is not None and rule_of(found.called) is not None):
        found = _applied(found, handed, site)
    elif found.binding is not None:
        if isinstance(slot, gast.Name) and slot.id in site.facts.functions:
            _give(call, handed.parameter, name(site.alias(found.name, found.binding)), site)
            site.facts.foreign[where] = None
        return
    site.facts.foreign[where] = None
    given = _argument(call, handed.args, site)
    whole = closed(found, site)
    assert whole.binding is not None, "a function that is closed has a name of its own"
    made: Closed = whole.binding.object
    added = _positional(made.source.tree, list(whole.words), given, handed, call, site)
    if added:
        display = given.elts if isinstance(given, gast.Tuple) else []
        _give(call, handed.args, at(gast.Tuple([*display, *added], gast.Load()), call), site)
    _give(call, handed.parameter, name(site.alias(found.name, Binding("object", made))), site)


def hands(node: Node, site: Site) -> bool:
    """Whether a call gives such an operation a function that stands in this one."""
    if not isinstance(node, gast.Call) or handed_of(node, site.facts, site.local) is None:
        return False
    return any(isinstance(n, gast.Name) and n.id in site.facts.functions for n in walk(node))


def _positional(
    tree: Node, captured: list[str], given: Node | None, handed: Handed, call: Node, site: Site
) -> list[Node]:
    """Make parameters of what a function captures, and give what further arguments the call has to have."""
    arguments = tree.args
    if arguments.vararg is not None or arguments.kwarg is not None:
        raise site.facts.refuse(call, "E5005", f"`{tree.name}` takes `*args` or `**`", "name its parameters")
    known = given is None or isinstance(given, gast.Tuple) or getattr(given, "value", given) is None
    if not known and captured:
        raise site.facts.refuse(
            given,
            "E5005",
            f"`{handed.args}=` is not written as a tuple, and `{tree.name}` reads {', '.join(captured)} as well",
            f"write `{handed.args}=(a, b)`",
        )
    own = [*arguments.posonlyargs, *arguments.args]
    count = len(given.elts) if isinstance(given, gast.Tuple) else 0
    missing = len(own) - handed.leading - count
    defaults = arguments.defaults[len(arguments.defaults) - max(missing, 0) :]
    if known and (missing < 0 or missing > len(arguments.defaults)):
        raise site.facts.refuse(
            call,
            "E5005",
            f"`{tree.name}` is called with {handed.leading + count} arguments",
            f"it takes: {', '.join(one.id for one in own)}",
        )
    if not known:
        return []
    arguments.defaults = []
    kept = [
        pair for pair in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if pair[0].id not in captured
    ]
    arguments.args += [one for one in arguments.kwonlyargs if one.id in captured]
    arguments.kwonlyargs, arguments.kw_defaults = [one for one, _ in kept], [default for _, default in kept]
    return [*map(copy, defaults), *map(name, captured)]


def _applied(found: Function, handed: Handed, site: Site) -> Function:
    """`partial(g, a, k=c)` and methods as a function of the arguments that are left; `np.sin` as one with a text."""
    facts = site.facts
    if found.tree is not None:
        arguments, spelled = found.tree.args, found.name
    else:
        assert found.binding is not None, "a function has a tree or a name"
        spelled = site.alias(found.name, found.binding)
        known = rule_of(found.called) is None
        arguments = facts.module.source(found.called)[0].tree.args if known else None
    own = [f"x{k}" for k in range(handed.leading)]
    if arguments is not None:
        own = [a.id for a in [*arguments.posonlyargs, *arguments.args]][len(found.args) :]
        own = [one for one in own if one not in found.words]
    made = facts.names.fresh(f"{found.name}_applied")
    value = gast.Call(name(spelled), [*map(copy, found.args), *map(name, own)], [])
    value.keywords = [gast.keyword(key, copy(word)) for key, word in found.words.items()]
    tree = parsed(f"def {made}({', '.join(own)}): return value").body[0]
    tree.body[0].value = value
    for item in walk(tree):
        at(item, found.tree if found.tree is not None else facts.source.tree)
    facts.functions[made] = Function(made, tree, facts)
    return Function(made, tree, facts)


def _argument(call: Node, parameter: str, site: Site) -> Node | None:
    """The argument that a call gives for a parameter."""
    for word in call.keywords:
        if word.arg == parameter:
            return word.value
    place = _place(call, parameter, site)
    return call.args[place] if place < len(call.args) else None


def _place(call: Node, parameter: str, site: Site) -> int:
    found = binding_of(call.func, site.facts, site.local)
    assert found is not None, "the caller has looked"
    return list(inspect.signature(found.object).parameters).index(parameter)


def _give(call: Node, parameter: str, value: Node, site: Site) -> None:
    """Exchange the argument for a parameter, or add it."""
    at(value, call)
    for word in call.keywords:
        if word.arg == parameter:
            word.value = value
            return
    place = _place(call, parameter, site)
    if place < len(call.args):
        call.args[place] = value
    else:
        call.keywords.append(gast.keyword(parameter, value))
