"""`np.linalg.eigh(a).eigenvectors` is `np.linalg.eigh(a)[1]`: results of operations that give several have no names."""

from __future__ import annotations

import gast

import srcgrad.templates as templates
from srcgrad.facts import Facts
from srcgrad.front.resolve import binding_of
from srcgrad.front.webs import parameters
from srcgrad.identity import home
from srcgrad.rules import Results, rule_of
from srcgrad.trees import Node, at, constant, expression, header, inside, statements, stores, target, walk


def fields(function: Node, facts: Facts) -> Node:
    """Spell the fields of several results by their places.

    >>> from srcgrad.phases import explain_text
    >>> print(explain_text("def f(a):\\n    r = np.linalg.qr(a)\\n    return r.Q @ r.R", after="fields"))
    def f(a):
        r = np.linalg.qr(a)
        return r[0] @ r[1]
    """
    if facts.generated:
        return function
    local = frozenset(parameters(function)) | {s for n in statements(function.body) for s in stores(n)}
    known = _known(function, facts, local)
    for node in statements(function.body):
        for part in [*header(node), node] if not header(node) else header(node):
            if _spell(part, known, facts, local):
                facts.foreign[node] = None
    return function


def _known(function: Node, facts: Facts, local: frozenset[str]) -> dict[str, Results]:
    """Names to which nothing but the results of one kind of operation is bound."""
    found: dict[str, list[Results]] = {}
    for node in statements(function.body):
        for bound in stores(node):
            several = results_of(node.value, facts, local) if target(node) == bound else ()
            found.setdefault(bound, []).append(several)
    own = {bound: kinds[0] for bound, kinds in found.items() if kinds[0] and all(k == kinds[0] for k in kinds)}
    return {bound: several for bound, several in own.items() if bound not in parameters(function)}


def results_of(value: Node, facts: Facts, local: frozenset[str]) -> Results:
    """The results of a call, with their names; empty for anything that gives one."""
    if not isinstance(value, gast.Call):
        return ()
    found = binding_of(value.func, facts, local)
    if found is None or found.kind != "object":
        return ()
    if rule_of(found.object) is None:
        templates.load_for(home(found.object) or "")
    rule = rule_of(found.object)
    return () if rule is None else rule.results


def _spell(part: Node, known: dict[str, Results], facts: Facts, local: frozenset[str]) -> bool:
    """Replace the fields that are read below `part`; whether there were any."""
    if all(_field(value, known, facts, local) is None for value in inside(part, gast.Attribute)):
        return False
    changed = False
    for item in list(walk(part)):
        for key in item._fields:
            inner = getattr(item, key, None)
            values = inner if isinstance(inner, list) else [inner]
            for place, value in enumerate(values):
                made = _field(value, known, facts, local)
                if made is None:
                    continue
                changed = True
                if isinstance(inner, list):
                    inner[place] = made
                else:
                    setattr(item, key, made)
    return changed


def _field(value: Node, known: dict[str, Results], facts: Facts, local: frozenset[str]) -> Node | None:
    if not isinstance(value, gast.Attribute):
        return None
    held = value.value
    several = known.get(held.id, ()) if isinstance(held, gast.Name) else results_of(held, facts, local)
    names = [name for name, _ in several]
    if value.attr not in names:
        return None
    return at(expression("held[place]", held=held, place=constant(names.index(value.attr))), value)
