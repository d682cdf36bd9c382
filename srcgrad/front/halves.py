"""`y = F.apply(x)`, of a class with two halves: `ctx = Context(x)`, then `y = F.forward(ctx, x)`."""

from __future__ import annotations

import gast

from srcgrad.errors import DifferentiationError
from srcgrad.facts import Operation
from srcgrad.front.scope import Scope
from srcgrad.rules import Rule
from srcgrad.template import adjoint_template
from srcgrad.trees import Node, assign, at, copy, expression, name


def opened_halves(made: Node, operation: Operation, bound: dict[str, Node], scope: Scope) -> tuple[Node, Rule]:
    """The call of the forward half, and the rule; what is kept goes by a name of its own, one for each call.

    In text that will be differentiated again nothing is kept: there the other half is a function of the primals.
    """
    rule, facts = operation.rule, scope.facts
    assert rule is not None and rule.own is not None, "a class of a user"
    if facts.module is not None and facts.module.inline and rule.own.again is not None:
        try:
            again: Rule = rule.own.again()
        except DifferentiationError as error:
            raise facts.refuse(made, error.code, error.message, error.remedy) from None
        return made, again
    template = adjoint_template(rule)
    assert template is not None, "its halves are written"
    held = facts.names.fresh("ctx") if "ctx" not in facts.names.taken else facts.names.numbered("ctx")
    given = [copy(bound.get(p, template.defaults.get(p))) for p in template.positional]
    context = gast.Call(name(facts.library("Context")), given, [])
    scope.emit(assign(held, at(context, made)))
    facts.rewritten[scope.user] = None
    owner = copy(made.func.value) if isinstance(made.func, gast.Attribute) else name(_class(operation, scope))
    half = at(expression("owner.forward", owner=owner), made)
    bound[rule.own.context] = name(held)
    call = at(gast.Call(half, [name(held), *made.args], made.keywords), made)
    facts.fills[call] = held
    return call, rule


def _class(operation: Operation, scope: Scope) -> str:
    owner = operation.function.__self__
    return scope.facts.library(owner.__name__, owner)
