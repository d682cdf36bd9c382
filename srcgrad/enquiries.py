"""What a caller learns of a function from its text: of the result, of what flows into it, of what it returns."""

from __future__ import annotations

from typing import Any  # a module of text, and kinds of arbitrary objects

import gast

from srcgrad.analyse.active import activity, flows
from srcgrad.analyse.alias import is_new
from srcgrad.analyse.complexes import complexes, may_be_complex
from srcgrad.analyse.containers import containers, of_display
from srcgrad.analyse.shapes import shapes
from srcgrad.facts import Facts, Kind, Spec
from srcgrad.front.namespace import Namespace
from srcgrad.front.source import Source
from srcgrad.front.step import Step
from srcgrad.front.webs import parameters
from srcgrad.pipeline import FRONT, prepared
from srcgrad.trees import Node


def analysed(
    source: Source, namespace: Namespace, kinds: dict[str, Kind], module: Any, step: Step | None = None
) -> Any:
    """What is known of a function's result, for arguments of these kinds, or None; its kind; may it be complex."""
    facts, program = prepared(source, namespace, "reverse", tuple(parameters(source.tree)), kinds, module, step)
    facts.called = True
    for each in (*FRONT, containers, activity, complexes, shapes):
        program = each(program, facts)
    value = program.body[-1].value
    kind = of_display(value, facts.kinds)
    complex_ = may_be_complex(value, facts)
    if isinstance(value, gast.Tuple):
        return tuple(facts.spec.get(item, Spec(ndim=None)) for item in value.elts), kind, complex_
    return facts.spec.get(value), kind, complex_


def fronted(
    source: Source, namespace: Namespace, wrt: tuple[str, ...], kinds: dict[str, Kind], module: Any
) -> tuple[Node, Facts]:
    """A function in normal form, with the shapes of its values."""
    facts, program = prepared(source, namespace, "primal", wrt, kinds, module)
    facts.called = True
    for each in (*FRONT, containers, activity, shapes):
        program = each(program, facts)
    return program, facts


def step_flows(step: Step, module: Any) -> list[list[str]]:
    """For each part of a step's result the parameters from which a derivative flows into it."""
    everything = tuple(parameters(step.source.tree))
    facts, program = prepared(step.source, step.namespace, "reverse", everything, {}, module, step)
    facts.called = True
    for each in (*FRONT, containers):
        program = each(program, facts)
    return flows(program, facts)


def returns_new(source: Source, namespace: Namespace, module: Any, step: Step | None = None) -> bool:
    """Whether each value that a function returns is made by it, and is no part of an argument."""
    facts, program = prepared(source, namespace, "reverse", tuple(parameters(source.tree)), {}, module, step)
    facts.called = True
    for each in (*FRONT, containers, activity, complexes, shapes):
        program = each(program, facts)
    return is_new(program.body[-1].value, program, facts)
