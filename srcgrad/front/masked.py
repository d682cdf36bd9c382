"""Reductions with `where=` and `initial=`, in terms of those without: sums, products, means, extremes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any  # called functions are arbitrary objects

import gast
import numpy as np

from srcgrad.front.functions import function_of
from srcgrad.front.resolve import METHODS, binding_of
from srcgrad.trees import Node, constant, copy, expression, walk

if TYPE_CHECKING:
    from srcgrad.front.plain import Plain


def masked(call: Node, work: Plain) -> Node | None:
    """`np.sum(np.where(m, x, 0.0)) + c` for `np.sum(x, where=m, initial=c)`; None where the call stays as it is.

    Elements that are left out become what changes nothing; the initial value is one more operand.
    """
    words = {word.arg: word.value for word in call.keywords}
    where, initial = words.pop("where", None), words.pop("initial", None)
    op = _operation(call, work)
    if op is None or (where is None and initial is None):
        return None
    array, *others = call.args if binding_of(call.func, work.facts, work.facts.local) else [call.func.value, *call.args]
    rest = [gast.keyword(key, value) for key, value in words.items()]
    plain = _Plainly(work, copy(array), others, rest, where)
    if op is np.sum:
        total = plain.called("sum", constant(0.0))
        return total if initial is None else gast.BinOp(total, gast.Add(), initial)
    if op is np.prod:
        total = plain.called("prod", constant(1.0))
        return total if initial is None else gast.BinOp(total, gast.Mult(), initial)
    if op is np.mean and isinstance(array, gast.Name) and _is_cheap(where):
        total = plain.called("sum", constant(0.0))
        plain.array = expression(f"{plain.numpy}.ones_like(a)", a=array)
        return gast.BinOp(total, gast.Div(), plain.called("sum", constant(0.0)))
    if op in (np.max, np.min, np.amax, np.amin) and initial is not None and _is_cheap(initial):
        largest = op in (np.max, np.amax)
        plain.helper = work.library("max_or_least" if largest else "min_or_most") if _by_numpy(work) else ""
        found = plain.called("max" if largest else "min", initial)
        other = "maximum" if largest else "minimum"
        return expression(f"{plain.numpy}.{other}(found, initial)", found=found, initial=copy(initial))
    return None


def _operation(call: Node, work: Plain) -> Any:
    found = binding_of(call.func, work.facts, work.facts.local)
    if found is not None:
        return found.object
    if not isinstance(call.func, gast.Attribute) or function_of(call.func, work.facts, work.facts.local) is not None:
        return None
    return METHODS.get(call.func.attr)


def _by_numpy(work: Plain) -> bool:
    """Whether NumPy runs the text: it may find no elements, and then there is the initial value alone."""
    return bool(work.facts.module.target == "numpy")


def _is_cheap(value: Node | None) -> bool:
    """Whether an expression may be evaluated twice."""
    kinds = (gast.Name, gast.Constant, gast.Attribute, gast.UnaryOp, gast.USub, gast.Load)
    return value is not None and all(isinstance(item, kinds) for item in walk(value))


class _Plainly:
    """The same reduction of what is left of an array."""

    def __init__(self, work: Plain, array: Node, others: list[Node], words: list[Node], where: Node | None) -> None:
        self.numpy = work.library("np")
        self.array, self.others, self.words, self.where = array, others, words, where
        self.helper = ""  # what stands for the function of NumPy

    def called(self, name: str, neutral: Node) -> Node:
        """The reduction with that name; elements that are left out are `neutral`."""
        kept = self.array
        if self.where is not None:
            text = f"{self.numpy}.where(m, a, e)"
            kept = expression(text, m=copy(self.where), a=self.array, e=copy(neutral))
        made = expression(f"{self.helper or f'{self.numpy}.{name}'}(a)", a=kept)
        made.args += [copy(other) for other in self.others]
        made.keywords = [gast.keyword(word.arg, copy(word.value)) for word in self.words]
        return made
