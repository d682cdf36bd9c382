"""Derivatives of roots, integrals and solutions, in a text that is differentiated again, as what they compute."""

from __future__ import annotations

from typing import TYPE_CHECKING

import gast

from srcgrad.front.flows import FLOWS
from srcgrad.front.nested import take_out
from srcgrad.front.replaced import Call, library
from srcgrad.front.resolve import binding_of
from srcgrad.runtime.quadrature import quad_pullback, quad_pushforward
from srcgrad.runtime.roots import root_pullback, root_pushforward
from srcgrad.trees import BLOCKS, Block, Node, at, name, walk

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


def implicit(function: Node, work: Plain) -> None:
    """Write out what the derivative of a root, of an integral or of a solution computes."""
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
                shown = list(walk(node.value))
                node.value = _exchanged(node.value, node, before, work)
                if list(walk(node.value)) != shown:
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
    for op, arguments, write in (*WRITTEN, *FLOWS):
        if found is not None and found.object is op:
            call = Call(arguments, part, where, before, work)
            made = write(call) if call.known else None
            return part if made is None else at(made, part)
    return part


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


WRITTEN = (
    (root_pullback, ("function", "derivative", "x", "args", "last"), _root_pulled),
    (root_pushforward, ("function", "derivative", "x", "args", "dots"), _root_pushed),
    (quad_pullback, ("function", "derivative", "a", "b", "args", "last"), _quad_pulled),
    (quad_pushforward, ("function", "derivative", "a", "b", "args", "a_dot", "b_dot", "dots"), _quad_pushed),
)
