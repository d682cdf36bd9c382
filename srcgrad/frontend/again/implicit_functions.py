"""Second order through solvers: roots, integrals and differential equations.

Derivatives of solutions of differential equations, in a text that is differentiated again.

A tangent is a part of the solution of a larger equation, that of the state and its tangent together. What is transposed
stays a call, of `flow_adjoint`, which has a rule of its own; what the times have to do with it stands around that.

Derivatives of roots, integrals and solutions, in a text that is differentiated again, as what they compute.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING  # parts of a call are trees and names

import gast

from srcgrad.core.trees import Block, Node, at, copy, literal_node, name, walk
from srcgrad.core.visitor import rewrite, rewrite_statements
from srcgrad.frontend.calls.nested_functions import take_out
from srcgrad.frontend.context import Call
from srcgrad.frontend.resolve import binding_of
from srcgrad.runtime.odes import method_of, odeint_pullback, odeint_pushforward, solution_pullback, solution_pushforward
from srcgrad.runtime.quadrature import quad_pullback, quad_pushforward
from srcgrad.runtime.roots import root_pullback, root_pushforward
from srcgrad.runtime.structure import zeros_like

if TYPE_CHECKING:
    from srcgrad.frontend.context import Rewriting


ADJOINT = """
start = np.ravel(np.array(y0))
count = np.size(start)
flow = flow_adjoint(function, derivative, begin, start, times, ({args}), {seeds}, {wrt}{options})
"""
PART = """
check_numbers(_{k})
after_{k} = {before} + np.size(_{k})
made_{k} = np.reshape(flow[{before} : after_{k}], np.shape(_{k}))[()]
"""
DEPARTED = """
departed = -np.sum(flow[:count] * np.ravel(np.array(function({begun}))))
moved = np.zeros(np.size(times))
for i in range(np.size(times)):
    moved[i] = {given}np.sum({seed} * np.ravel(np.array(function({at}))))
"""
JOINT = """
def joint(time, both{own}{dots}):
    state, state_dot = both[: len(both) // 2], both[len(both) // 2 :]
    rate = np.ravel(np.array(function({at}{own})))
    rate_dot = np.ravel(np.array(derivative({at}{own}{seeds})))
    return np.concatenate((rate, rate_dot))
"""
STARTED = """
start = np.ravel(np.array(y0))
count = np.size(start)
first = np.ravel(np.array(y0_dot)){less}
size = tangent_size(first{tangents})
rtol, atol = doubled({rtol}, {atol}, count)
"""
SOLVED = """
_, both = states(joint, (begin, end), np.concatenate((start, first / size)), method, times,
    args=({args}), rtol=rtol, atol=atol)
"""
RATES = """
rates = np.zeros(np.shape(y))
for i in range(np.size(times)):
    {row} = np.ravel(np.array(function({at}{primals})))
"""


# The right-hand side gets its state and the time, in the order that the solver has.
STATE_FIRST, TIME_FIRST = "{state}, {time}", "{time}, {state}"


def _order(call: Call) -> str:
    return TIME_FIRST if getattr(call.given.get("tfirst"), "value", False) else STATE_FIRST


def _adjoint(call: Call, seeds: str, **options: object) -> dict[int, str]:
    """Write what does not know of moving times; the names of the adjoints of the arguments."""
    args = "".join(f"_{k}, " for k in range(call.count))
    words = "".join(f", {key}={value!r}" for key, value in options.items())
    call.write(ADJOINT, args=args, seeds=seeds, wrt=call.places, options=words + call.options)
    before = "count"
    for k in call.places:
        call.write(PART, k=k, before=before)
        before = f"after_{k}"
    return {k: f"made_{k}" for k in call.places}


def _write_departure(call: Call, order: str, given: str, seed: str, state: str) -> None:
    begun = order.format(state="start", time="begin") + call.primals
    at = order.format(state=state, time="times[i]") + call.primals
    call.write(DEPARTED, begun=begun, at=at, given=given, seed=seed)


START_BAR = "np.reshape(flow[:count], np.shape(y0))[()]"


def _odeint_pulled(call: Call) -> Node:
    order = _order(call)
    call.write("times = np.array(t)")
    call.parts["begin"] = call.result("times[0]")
    made = _adjoint(call, "last")
    _write_departure(call, order, "", "last[i]", "y[i]")
    call.write("moved[0] = moved[0] + departed")
    return call.result(f"({START_BAR}, np.reshape(moved, np.shape(t)), {call.entry_per_argument(made)})")


def _solution_pulled(call: Call) -> Node | None:
    if not _name_parts(call):
        return None
    usual = {"method": "RK45", "rtol": 1e-3, "atol": 1e-6}
    missing = {key: value for key, value in usual.items() if key not in call.given}
    made = _adjoint(call, "np.transpose(last)", tfirst=True, **missing)
    _write_departure(call, TIME_FIRST, "t_last[i] + ", "last[:, i]", "y[:, i]")
    is_array = getattr(call.work.facts.kinds.of_names.get(getattr(call.parts["span"], "id", "")), "tag", "") == "array"
    span = "np.array(({}, {}))" if is_array else "({}, {})"
    if _is_none(call.parts["eval"]):
        ends = span.format("departed + moved[0]", "moved[-1]")
        return call.result(f"({ends}, {START_BAR}, None, {call.entry_per_argument(made)})")
    return call.result(f"({span.format('departed', '0.0')}, {START_BAR}, moved, {call.entry_per_argument(made)})")


def _name_parts(call: Call) -> bool:
    """Give the parts of what was found, and of the span, names of their own."""
    found = call.parts["found"]
    if isinstance(found, gast.Tuple):
        call.parts["times"], call.parts["y"] = found.elts
        call.parts["begin"], call.parts["end"] = _item(call.parts["span"], 0), _item(call.parts["span"], 1)
    return isinstance(found, gast.Tuple)


def _item(value: Node, place: int) -> Node:
    if isinstance(value, gast.Tuple | gast.List):
        return value.elts[place]
    return gast.Subscript(copy(value), literal_node(place), gast.Load())


def _is_none(node: Node) -> bool:
    return isinstance(node, gast.Constant) and node.value is None


def _still(node: Node, call: Call) -> bool:
    """Whether a tangent is written as zero."""
    if isinstance(node, gast.Tuple | gast.List):
        return all(_still(one, call) for one in node.elts)
    found = binding_of(node.func, call.work.facts, call.work.facts.names.local) if isinstance(node, gast.Call) else None
    return (found is not None and found.object is zeros_like) or _is_none(node)


def _joint(call: Call, order: str) -> None:
    """Write the right-hand side of the state and its tangent."""
    seed, *words = call.words
    taken: dict[str, None] = {}
    for k, one in enumerate(call.elements):
        known = isinstance(one, gast.Name) and one.id not in taken
        call.parts[f"own_{k}"] = one.id if known else call.work.facts.names.fresh(f"p{k}")
        taken[call.parts[f"own_{k}"]] = None
    for k in call.places:
        call.parts[f"own_{k}_dot"] = call.work.facts.names.fresh(f"{call.parts[f'own_{k}']}_dot")
    call.write(
        JOINT,
        at=order.format(state="state", time="time"),
        own="".join(f", own_{k}" for k in range(call.count)),
        dots="".join(f", own_{k}_dot" for k in call.places),
        seeds=f", {seed}=state_dot" + call.dots(words, "own_{}_dot"),
    )


def _write_solver_call(call: Call, order: str, departing: str, usual: tuple[float | None, float | None]) -> None:
    """Write the call of the solver; its first state moves with its first time, by `departing`."""
    _joint(call, order)
    for k in call.places:
        call.write("check_numbers(_{k})", k=k)
    begun = order.format(state="start", time="begin") + call.primals
    less = f" - np.ravel(np.array(function({begun}))) * {departing}" if departing else ""
    tangents = "".join(f", _{k}_dot" for k in call.places)
    tolerances = {
        word: f"given_{word}" if word in call.given else repr(value)
        for word, value in zip(("rtol", "atol"), usual, strict=True)
    }
    call.write(STARTED, less=less, tangents=tangents, **tolerances)
    args = "".join(f"_{k}, " for k in range(call.count)) + "".join(f"_{k}_dot / size, " for k in call.places)
    call.write(SOLVED, args=args)


def _odeint_pushed(call: Call) -> Node:
    order, still = _order(call), _still(call.parts["t_dot"], call)
    call.write("times = np.array(t)" if still else "times, moved = np.array(t), np.array(t_dot)")
    call.parts["begin"] = call.result("times[0]")
    call.parts["end"], call.parts["method"] = call.result("times[-1]"), literal_node("LSODA")
    _write_solver_call(call, order, "" if still else "moved[0]", (None, None))
    if still:
        return call.result("np.transpose(both[count:] * size)")
    call.write(RATES, row="rates[i]", at=order.format(state="y[i]", time="times[i]"))
    return call.result("np.transpose(both[count:] * size) + rates * moved[:, np.newaxis]")


def _solution_pushed(call: Call) -> Node | None:
    if not _name_parts(call):
        return None
    spans, asked = not _still(call.parts["span_dot"], call), not _is_none(call.parts["eval"])
    moves = not _still(call.parts["eval_dot"], call) if asked else spans
    for place, one in enumerate(("begin_dot", "end_dot")):
        call.parts[one] = _item(call.parts["span_dot"], place)
    method = call.given.get("method", literal_node("RK45"))
    if isinstance(method, gast.Constant):
        call.parts["method"] = literal_node(method_of(method.value))
    else:
        call.write("chosen = method_of(given_method)")
        call.parts["method"] = call.result("chosen")
    _write_solver_call(call, TIME_FIRST, "begin_dot" if spans else "", (1e-3, 1e-6))
    if not moves:
        return call.result("(np.zeros(np.shape(times)), both[count:] * size)")
    call.write("moved = np.array(eval_dot)" if asked else "moved = np.zeros(np.shape(times))")
    if not asked:
        call.write("moved[0] = begin_dot\nmoved[-1] = end_dot")
    call.write(RATES, row="rates[:, i]", at="times[i], y[:, i]")
    return call.result("(moved, both[count:] * size + rates * moved)")


SOLUTION = ("function", "derivative", "found", "span", "y0", "eval", "args")
FLOWS: tuple[tuple[object, tuple[str, ...], Callable[[Call], Node | None]], ...] = (
    (odeint_pullback, ("function", "derivative", "y", "y0", "t", "args", "last"), _odeint_pulled),
    (odeint_pushforward, ("function", "derivative", "y", "y0", "t", "args", "y0_dot", "t_dot", "dots"), _odeint_pushed),
    (solution_pullback, (*SOLUTION, "t_last", "last"), _solution_pulled),
    (solution_pushforward, (*SOLUTION, "span_dot", "y0_dot", "eval_dot", "dots"), _solution_pushed),
)


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


def implicit(function: Node, work: Rewriting) -> None:
    """Write out what the derivative of a root, of an integral or of a solution computes."""
    function.body = rewrite_statements(function.body, lambda node: _statement(node, work), apart=(gast.FunctionDef,))


def _statement(node: Node, work: Rewriting) -> Block:
    """A statement behind what computes the results that it reads."""
    before: Block = []
    if isinstance(node, gast.Assign | gast.AugAssign | gast.Return) and node.value is not None:
        shown = list(walk(node.value))
        node.value = rewrite(node.value, lambda part: _exchange_results(part, node, before, work))
        if list(walk(node.value)) != shown:
            work.facts.origin.foreign[node] = None
    return [*take_out(before, work), node]


def _exchange_results(part: Node, where: Node, before: Block, work: Rewriting) -> Node:
    """An expression with the results of such calls in their places; what computes them goes to `before`."""
    held = part.value if isinstance(part, gast.Subscript) and isinstance(part.slice, gast.Constant) else None
    if isinstance(held, gast.Tuple):
        taken: Node = held.elts[part.slice.value]
        return taken
    found = binding_of(part.func, work.facts, work.facts.names.local) if isinstance(part, gast.Call) else None
    for op, arguments, write in (*WRITTEN, *FLOWS):
        if found is not None and found.object is op:
            call = Call(arguments, part, where, before, work)
            made = write(call) if call.known else None
            return part if made is None else at(made, part)
    return part


def _root_pulled(call: Call) -> Node:
    call.write(ROOT_PULLBACK, seed=call.words[0])
    return call.result(call.entry_per_argument({k: f"made[{number + 1}]" for number, k in enumerate(call.places)}))


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
    parts = call.entry_per_argument({k: f"made_{k}" for k in call.places} if call.words else {})
    return call.result(f"(last * -low, last * high, {parts})")


def _quad_pushed(call: Call) -> Node:
    _ends(call)
    call.parts["quad"] = _quad(call)
    call.write(SUMMED if call.words else MOVED, moved=call.dots(call.words, "_{}_dot") if call.words else "")
    return name(call.parts["made"])


def _quad(call: Call) -> str:
    from scipy.integrate import quad  # late: only texts with integrals need SciPy

    return call.work.facts.library_in_text("quad", quad)


WRITTEN = (
    (root_pullback, ("function", "derivative", "x", "args", "last"), _root_pulled),
    (root_pushforward, ("function", "derivative", "x", "args", "dots"), _root_pushed),
    (quad_pullback, ("function", "derivative", "a", "b", "args", "last"), _quad_pulled),
    (quad_pushforward, ("function", "derivative", "a", "b", "args", "a_dot", "b_dot", "dots"), _quad_pushed),
)
