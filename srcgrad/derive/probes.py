"""A probe behind each operation that may carry a derivative, for `srcgrad.trace`."""

from __future__ import annotations

import re
from dataclasses import field

import gast

from srcgrad.core.facts import Facts, Operation
from srcgrad.core.identity import record
from srcgrad.core.printer import expression as spelled
from srcgrad.core.rules import rule_of
from srcgrad.core.trees import (
    Block,
    Node,
    assign,
    at,
    copy,
    expression,
    is_swap,
    is_write,
    name,
    statements,
    stores,
    walk,
    written_names,
)
from srcgrad.core.visitor import rewrite_statements
from srcgrad.runtime.hooks import probe


@record(frozen=True)
class Place:
    """A statement in normal form that binds a value: where it is, and what it computes from what.

    `text` is the expression, in which `$h$` stands for what h is bound to; `bound` the name that it binds, `name` the
    user's name for it, empty for a temporary; `slot` its place in what an unpacking takes apart.
    """

    line: int
    bound: str
    name: str
    operation: str
    text: str
    slot: int | None = None


def probes(function: Node, facts: Facts) -> Node:
    """Follow each statement that binds a varying number or array by a probe, which has the value and its adjoint.

    >>> from srcgrad.interface.show.explain import explain_text
    >>> print(explain_text("def f(x, y):\\n    return x * y + np.sin(x)", after="probes", mode="trace"))
    def f(x, y):
        t2_ = x * y
        t2 = probe(t2_, 0)
        t3_ = np.sin(x)
        t3 = probe(t3_, 1)
        result_ = t2 + t3
        result = probe(result_, 2)
        return result
    """
    changed = {w for node in statements(function.body) for w in written_names(node)}
    changed |= {s for node in statements(function.body) if is_swap(node) for s in stores(node)}
    work = _Work(facts, changed)
    function.body = rewrite_statements(function.body, lambda node: _add_probes(node, work))
    return function


@record
class _Work:
    """The function that is probed: names whose contents change, the texts of containers that have no row."""

    facts: Facts
    changed: set[str]
    taken_apart: dict[str, str] = field(default_factory=dict)

    def is_plain(self, bound: str) -> bool:
        """Whether a name holds a number or an array that varies, and that nothing is written into."""
        facts = self.facts
        holds = bound in facts.kinds.containers or facts.list_kind(bound) or bound in facts.kinds.records
        return bound in facts.activity.varied and bound not in self.changed and not holds

    def text(self, value: Node) -> str:
        """An expression with its names marked; containers that have no row of their own are written out."""
        marked = copy(value)
        for item in walk(marked):
            if isinstance(item, gast.Name):
                item.id = f"${item.id}$"
        return re.sub(r"\$(\w+)\$", lambda m: self.taken_apart.get(m[1], m[0]), spelled(marked))


def _add_probes(node: Node, work: _Work) -> Block:
    if isinstance(node, gast.For):
        _item(node, work)
    elif is_write(node):
        if isinstance(node.value, gast.Name) and work.is_plain(node.value.id):
            return [_probe_of_store(node, work), node]
    elif isinstance(node, gast.Assign) and not written_names(node) and not is_swap(node):
        return [node, *_probes_of_binding(node, work)]
    return [node]


def _item(node: Node, work: _Work) -> None:
    """The rows of an array over which a loop runs."""
    if isinstance(node.iter, gast.Name) and isinstance(node.target, gast.Name) and work.is_plain(node.target.id):
        text = f"item of {work.text(node.iter)}"
        node.body.insert(0, _rename_and_probe(node, node.target, "item", text, None, work.facts))


def _probe_of_store(node: Node, work: _Work) -> Node:
    """What is stored in a part of an array, which itself has no row."""
    facts, part = work.facts, node.targets[0] if isinstance(node, gast.Assign) else node.target
    held = facts.names.fresh(f"{node.value.id}_")
    facts.activity.varied[held], facts.names.temporaries[held] = None, "t"
    text = f"{spelled(part)} {'=' if isinstance(node, gast.Assign) else '+='} {work.text(node.value)}"
    array = facts.names.base.get(part.value.id, part.value.id)
    made = _statement(held, node.value, node, Place(node.lineno, held, array, "store", text), facts)
    node.value = name(held)
    return made


def _probes_of_binding(node: Node, work: _Work) -> Block:
    """The probes of the names that an assignment binds."""
    facts, target = work.facts, node.targets[0]
    operation, text = _operation(node.value, facts), work.text(node.value)
    if isinstance(target, gast.Tuple):
        parts = [(slot, item) for slot, item in enumerate(target.elts) if work.is_plain(item.id)]
        return [_rename_and_probe(node, item, operation, f"{text}[{slot}]", slot, facts) for slot, item in parts]
    if work.is_plain(target.id) and not _makes_container(node.value, facts):
        facts.origin.augmented.pop(node, None)  # what it adds to has a name of its own now
        return [_rename_and_probe(node, target, operation, text, None, facts)]
    if target.id in facts.names.temporaries:
        work.taken_apart[target.id] = text
    return []


def _makes_container(value: Node, facts: Facts) -> bool:
    operation = facts.resolution.operation.get(value)
    made = operation is not None and operation.rule is not None and operation.rule.gives == "arrays"
    return made or isinstance(value, gast.Tuple | gast.List | gast.Dict)


def _rename_and_probe(node: Node, item: Node, operation: str, text: str, slot: int | None, facts: Facts) -> Node:
    """Give what a statement binds another name, and return the probe that binds the old one."""
    bound, item.id = item.id, facts.names.fresh(f"{item.id}_" if item.id in facts.names.temporaries else item.id)
    facts.activity.varied[item.id] = None
    facts.names.temporaries[item.id] = facts.names.temporaries.get(bound, "t")
    own = "" if bound in facts.names.temporaries else facts.names.base.get(bound, bound)
    return _statement(bound, name(item.id), node, Place(node.lineno, bound, own, operation, text, slot), facts)


def _statement(bound: str, read: Node, node: Node, place: Place, facts: Facts) -> Node:
    helper = facts.library("probe", probe)
    value = expression(f"{helper}(x, {len(facts.tape.probes)})", x=read)
    facts.resolution.operation[value] = Operation("op", probe, rule_of(probe), {"x": read, "place": value.args[1]})
    made = at(assign(bound, value), node)
    facts.origin.user[made] = facts.origin.user.get(node, node)
    facts.tape.probes.append(place)
    return made


def _operation(value: Node, facts: Facts) -> str:
    if isinstance(value, gast.Name):
        return "name"
    operation = facts.resolution.operation.get(value)
    if operation is None:
        return type(value).__name__.lower()
    if operation.rule is not None:
        return operation.rule.name
    return str(getattr(operation.function, "__name__", "call"))
