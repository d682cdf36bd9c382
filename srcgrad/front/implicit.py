"""Derivatives of roots and integrals, in a text that is differentiated again, as what they compute."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any  # helpers are arbitrary functions

import gast
import numpy as np

from srcgrad.facts import Facts
from srcgrad.front.namespace import Binding
from srcgrad.front.nested import take_out
from srcgrad.front.overlay import Overlay
from srcgrad.front.resolve import binding_of
from srcgrad.runtime.quadrature import check_numbers, check_steady, quad_pullback, quad_pushforward
from srcgrad.runtime.roots import check_slopes, root_pullback, root_pushforward
from srcgrad.runtime.structure import zeros_like
from srcgrad.trees import BLOCKS, Block, Node, at, expression, name, statements, substitute, walk

if TYPE_CHECKING:
    from srcgrad.front.plain import Plain

# `slopes` are those of the function by x, an equation a row.
ROOT_PULLBACK = """
value = np.array(function(x{primals}))
slopes = np.zeros((np.size(x), np.size(x)))
for i in range(np.size(x)):
    row = derivative(x{primals}, {seed}=np.reshape(np.eye(np.size(x))[i], np.shape(value))[()])
    slopes[i] = np.ravel(row[0])
check_slopes(slopes, value, x)
given = np.linalg.solve(slopes.T, -np.ravel(last))
made = derivative(x{primals}, {seed}=np.reshape(given, np.shape(value))[()])
"""
ROOT_PUSHFORWARD = """
value = np.array(function(x{primals}))
slopes = np.zeros((np.size(x), np.size(x)))
for i in range(np.size(x)):
    column = derivative(x{primals}, {seed}=np.reshape(np.eye(np.size(x))[i], np.shape(x))[()]{still})
    slopes[:, i] = np.ravel(np.array(column))
check_slopes(slopes, value, x)
given = np.array(derivative(x{primals}, {seed}=np.zeros(np.shape(x))[()]{moved}))
made = np.reshape(np.linalg.solve(slopes, -np.ravel(given)), np.shape(x))[()]
"""
STEADY = "check_steady(function, a, b, ({primals},){places})\n"
END = """
{end} = 0.0
if np.isfinite({at}):
    {end} = np.sum(function({at}{primals}))
"""
GAINED = """
check_numbers(_{k})
gained_{k} = np.zeros(np.size(_{k}))
for i in range(np.size(_{k})):
    gained_{k}[i] = quad(lambda s: np.ravel(derivative(s{primals}, {seed}=1.0){part})[i], a, b{options})[0]
made_{k} = np.reshape(last * gained_{k}, np.shape(_{k}))[()]
"""
MOVED = """
made = low * -a_dot + high * b_dot
"""
SUMMED = """
made = quad(lambda s: np.sum(derivative(s{primals}{moved})), a, b{options})[0] + high * b_dot - low * a_dot
"""
OWN = ("value", "slopes", "i", "row", "column", "given", "made", "low", "high")
HELPERS = {
    "np": np,
    "check_numbers": check_numbers,
    "check_slopes": check_slopes,
    "check_steady": check_steady,
    "zeros_like": zeros_like,
}


def implicit(function: Node, work: Plain) -> None:
    """Write out what the derivative of a root or of an integral computes."""
    function.body = _block(function.body, work)


def _block(block: Block, work: Plain) -> Block:
    made: Block = []
    for node in block:
        if not isinstance(node, gast.FunctionDef):
            for which in BLOCKS:
                if getattr(node, which, None):
                    setattr(node, which, _block(getattr(node, which), work))
            if isinstance(node, gast.Assign | gast.AugAssign | gast.Return) and node.value is not None:
                before: Block = []
                shown = gast.dump(node.value)
                node.value = _exchanged(node.value, node, before, work)
                if gast.dump(node.value) != shown:
                    work.facts.foreign[node] = None
                made += take_out(before, work)
        made.append(node)
    return made


def _exchanged(part: Node, where: Node, before: Block, work: Plain) -> Node:
    """An expression with the results of such calls in their places; what computes them goes to `before`."""
    for field in part._fields:
        value = getattr(part, field, None)
        if isinstance(value, list):
            setattr(part, field, [_exchanged(v, where, before, work) if isinstance(v, gast.AST) else v for v in value])
        elif isinstance(value, gast.AST):
            setattr(part, field, _exchanged(value, where, before, work))
    held = part.value if isinstance(part, gast.Subscript) and isinstance(part.slice, gast.Constant) else None
    if isinstance(held, gast.Tuple):
        return held.elts[part.slice.value]
    found = binding_of(part.func, work.facts, work.facts.local) if isinstance(part, gast.Call) else None
    for op, arguments, write in WRITTEN:
        if found is not None and found.object is op:
            call = Call(arguments, part, where, before, work)
            return at(write(call), part) if call.known else part
    return part


class Call:
    """One such call: its arguments by name, and the statements that take its place."""

    def __init__(self, arguments: tuple[str, ...], call: Node, where: Node, before: Block, work: Plain) -> None:
        self.where, self.before, self.work = where, before, work
        self.parts: dict[str, Any] = dict(zip(arguments, call.args, strict=True))
        words = {word.arg: word.value for word in call.keywords}
        places = gast.literal_eval(words.pop("places")) if "places" in words else None
        args = self.parts.pop("args")
        self.known = isinstance(args, gast.Tuple)
        if not self.known:
            return
        self.count = len(args.elts)
        self.places: tuple[int, ...] = tuple(range(self.count)) if places is None else places
        derivative = binding_of(self.parts["derivative"], work.facts, work.facts.local)
        self.words: list[str] = []
        if derivative is not None and work.facts.module is not None:
            function = derivative.static if derivative.static is not None else derivative.object
            self.words = [one.id for one in work.facts.module.source(function)[0].tree.args.kwonlyargs]
        dots = self.parts.pop("dots", None)
        self.parts |= {f"_{k}": one for k, one in enumerate(args.elts)}
        self.parts |= {f"_{k}_dot": one for k, one in enumerate(getattr(dots, "elts", []))}
        self.primals = "".join(f", _{k}" for k in range(self.count))
        self.options = "".join(f", {word}={gast.unparse(value)}" for word, value in words.items())
        own = {one: work.facts.names.fresh(one) for one in (*OWN, *(f"gained_{k}" for k in self.places))}
        own |= {f"made_{k}": work.facts.names.fresh(f"made_{k}") for k in self.places}
        work.facts.local |= frozenset(own.values())
        self.parts |= own

    def write(self, text: str, **facts: Any) -> None:
        """Add statements, in which names mean the arguments of the call, and functions of ours."""
        block = gast.parse(text.format(primals=self.primals, options=self.options, **facts)).body
        for helper in {n.id for node in block for n in walk(node) if isinstance(n, gast.Name)} & set(HELPERS):
            self.parts.setdefault(helper, library(helper, HELPERS[helper], self.work.facts))
        for node in block:
            made = substitute(node, self.parts)
            for item in walk(made):
                at(item, self.where)
            self.work.facts.foreign.update(dict.fromkeys(statements([made])))
            self.before.append(made)

    def dots(self, words: list[str], value: str) -> str:
        """The keywords of a derivative that takes tangents."""
        return "".join(f", {word}={value.format(k)}" for word, k in zip(words, self.places, strict=True))

    def each(self, made: dict[int, str]) -> str:
        """A tuple with one entry for each argument, None for those that have no adjoint."""
        return "(" + "".join(f"{made.get(k)}, " for k in range(self.count)) + ")"

    def result(self, text: str) -> Node:
        """An expression over the names of the statements."""
        return expression(text, **self.parts)


def _root_pulled(call: Call) -> Node:
    call.write(ROOT_PULLBACK, seed=call.words[0])
    return call.result(call.each({k: f"made[{number + 1}]" for number, k in enumerate(call.places)}))


def _root_pushed(call: Call) -> Node:
    seed, *words = call.words
    still, moved = call.dots(words, "zeros_like(_{})"), call.dots(words, "_{}_dot")
    call.write(ROOT_PUSHFORWARD, seed=seed, still=still, moved=moved)
    return name(call.parts["made"])


def _ends(call: Call) -> None:
    for end, place in (("low", "a"), ("high", "b")):
        call.write(END, end=end, at=place)
    if call.words:
        places = "" if len(call.places) == call.count else f", places={call.places!r}"
        call.write(STEADY.replace("({primals},)", "(" + call.primals[2:] + ",)"), places=places)


def _quad_pulled(call: Call) -> Node:
    _ends(call)
    call.parts["quad"] = _quad(call)
    for number, k in enumerate(call.places if call.words else ()):
        part = f"[{number}]" if len(call.places) > 1 else ""
        call.write(GAINED, k=k, part=part, seed=call.words[0])
    parts = call.each({k: f"made_{k}" for k in call.places} if call.words else {})
    return call.result(f"(last * -low, last * high, {parts})")


def _quad_pushed(call: Call) -> Node:
    _ends(call)
    call.parts["quad"] = _quad(call)
    call.write(SUMMED if call.words else MOVED, moved=call.dots(call.words, "_{}_dot") if call.words else "")
    return name(call.parts["made"])


def _quad(call: Call) -> str:
    from scipy.integrate import quad  # late: only texts with integrals need SciPy

    return library("quad", quad, call.work.facts)


def library(spelled: str, value: Any, facts: Facts) -> str:
    """The name by which a text that is read calls a function of ours."""
    made = facts.library(spelled, value)
    facts.namespace = Overlay(facts.namespace, {made: Binding("object", value)})
    return made


WRITTEN = (
    (root_pullback, ("function", "derivative", "x", "args", "last"), _root_pulled),
    (root_pushforward, ("function", "derivative", "x", "args", "dots"), _root_pushed),
    (quad_pullback, ("function", "derivative", "a", "b", "args", "last"), _quad_pulled),
    (quad_pushforward, ("function", "derivative", "a", "b", "args", "a_dot", "b_dot", "dots"), _quad_pushed),
)
