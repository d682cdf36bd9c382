"""Looking at a function after any pass: every phase prints as legal Python."""

from __future__ import annotations

import textwrap
from typing import Any  # a program is a tree or a pair of halves

import numpy as np

from srcgrad.derive.program import Program
from srcgrad.emit.text import function as spell
from srcgrad.emit.text import statement
from srcgrad.facts import Facts
from srcgrad.front.namespace import Binding
from srcgrad.front.overlay import Overlay
from srcgrad.front.target import find_target
from srcgrad.front.webs import parameters
from srcgrad.modules import Module
from srcgrad.pipeline import MODES, prepared


def run(text: str, after: str, mode: str = "reverse", wrt: tuple[str, ...] | None = None) -> tuple[Any, Facts]:
    """The program and the facts of the last function in `text`, after the pass called `after`; `np` is NumPy."""
    target = find_target("-", text=textwrap.dedent(text))[-1]
    namespace = Overlay(target.module, {"np": Binding("object", np)})
    if wrt is None:
        wrt = tuple(parameters(target.source.tree))
    facts, program = prepared(target.source, namespace, mode, wrt, {}, Module())
    for step in MODES[mode]:
        program = step(program, facts)
        if step.__name__ == after:
            return program, facts
    names = ", ".join(step.__name__ for step in MODES[mode])
    raise ValueError(f"no pass is called {after!r}; in mode {mode} there are: {names}")


def explain_text(text: str, after: str, mode: str = "reverse", wrt: tuple[str, ...] | None = None) -> str:
    """The last function in `text` after the pass called `after`, as Python.

    >>> print(explain_text("def f(x):\\n    return np.sin(x * x)", after="normalise"))
    def f(x):
        t2 = x * x
        y = np.sin(t2)
        return y
    """
    program, _ = run(text, after, mode, wrt)
    if isinstance(program, Program):
        return "\n".join(line for node in program.block for line in statement(node))
    return spell(program).rstrip()


def explain_facts(text: str, after: str = "activity") -> Facts:
    """The facts of the last function in `text` after the pass called `after`."""
    return run(text, after)[1]
