"""Objects of SciPy, in terms of the functions that they stand for.

Results that are objects, `sol = solve_ivp(...)` with `sol.t` and `sol.y`, as the arrays in them.

Frozen distributions, `scipy.stats.norm(m, s).logpdf(x)`: the method of the distribution with all arguments.

Splines that a function makes, `s = CubicSpline(x, y)` and then `s(t)`, as their knots and coefficients.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import (
    TYPE_CHECKING,
    Any,  # distributions are objects of SciPy
)

import gast

import srcgrad.templates as templates
from srcgrad.core.bindings import Binding
from srcgrad.core.identity import home, is_distribution
from srcgrad.core.namespace import Overlay
from srcgrad.core.rules import Parts, parts_of
from srcgrad.core.trees import (
    Block,
    Node,
    at,
    copy,
    expression,
    find_nodes,
    header,
    literal_node,
    loads,
    name,
    statements,
    stores,
    target,
    walk,
)
from srcgrad.core.visitor import SOMETIMES, rewrite, rewrite_blocks, rewrite_statements
from srcgrad.frontend.context import library
from srcgrad.frontend.resolve import binding_of, literal
from srcgrad.runtime import pieces

if TYPE_CHECKING:
    from srcgrad.frontend.context import Rewriting


def solutions(function: Node, work: Rewriting) -> None:
    """Let `t, y = solution(f, span, y0)` stand for `sol = solve_ivp(f, span, y0)` where only parts of `sol` are read.

    What is read otherwise stays as it is: no derivative is known then.
    """
    every = list(statements(function.body))
    if not any(_parts(n, work) for node in every for part in header(node) for n in find_nodes(part, gast.Call)):
        return
    function.body = rewrite_statements(
        function.body, lambda node: _hoist_solutions(node, _hold_solution, (*_SPOKEN, gast.Expr), work)
    )
    every = list(statements(function.body))
    for held in dict.fromkeys(target(n) for n in every if _parts(getattr(n, "value", None), work)):
        bound = [n for n in every if held in stores(n)]
        found = [_parts(getattr(node, "value", None), work) for node in bound if target(node) == held]
        if held is None or len(found) != len(bound) or any(one is not found[0] for one in found):
            continue
        if found[0] is not None and _only_parts(function, held, found[0], work):
            _bind_parts(function, held, found[0], bound, work)


def _parts(node: Node, work: Rewriting) -> Parts | None:
    """What is known of the result of a call, if it is an object with parts."""
    if not isinstance(node, gast.Call):
        return None
    found = binding_of(node.func, work.facts, work.facts.local)
    if found is None or found.kind != "object" or found.static is not None:
        return None
    module = home(found.object) or ""
    if module.startswith("scipy."):
        templates.load_for(module)
    return parts_of(found.object)


_SPOKEN = (gast.Assign, gast.AugAssign, gast.Return)


def _hoist_solutions(node: Node, exchange: Callable[..., Node], kinds: tuple[type, ...], work: Rewriting) -> Block:
    """`sol = solve_ivp(...)` before a statement that reads a part of such a call: before those of some kinds."""
    before: Block = []
    if type(node) in kinds and node.value is not None:
        rewrite(node, lambda part: exchange(part, node, before, work), SOMETIMES)
    return [*before, node]


def _hold_solution(part: Node, node: Node, before: Block, work: Rewriting) -> Node:
    """`sol.y` for `solve_ivp(...).y`."""
    if isinstance(part, gast.Attribute) and _parts(part.value, work):
        held = work.name("sol")
        before.append(work.bind(held, part.value, node))
        part.value = at(name(held), part.value)
        work.facts.foreign[node] = None
    return part


def _only_parts(function: Node, held: str, parts: Parts, work: Rewriting) -> bool:
    """Whether nothing but known parts of a name is read, and nothing of it in nested functions."""
    nested = [known.tree for known in work.facts.functions.values() if known.tree is not None]
    if any(isinstance(n, gast.Name) and n.id == held for tree in nested for n in walk(tree)):
        return False
    reads = [n for n in walk(function) if isinstance(n, gast.Name) and n.id == held and isinstance(n.ctx, gast.Load)]
    known = (*parts.names, *parts.constants)
    taken = [
        n
        for n in walk(function)
        if isinstance(n, gast.Attribute) and getattr(n.value, "id", "") == held and n.attr in known
    ]
    return len(reads) == len(taken)


def _bind_parts(function: Node, held: str, parts: Parts, bound: list[Node], work: Rewriting) -> None:
    """Bind the parts to names, and read these."""
    helper = work.facts.library(parts.helper.__name__, parts.helper)
    work.facts.namespace = Overlay(work.facts.namespace, {helper: Binding("object", parts.helper)})
    names = {part: work.name(f"{held}_{part}") for part in parts.names}
    for node in bound:
        targets = [name(one, gast.Store()) for one in names.values()]
        node.targets = [gast.Tuple(targets, gast.Store()) if len(targets) > 1 else targets[0]]
        node.value.func = at(name(helper), node.value.func)
        work.own(node, node)
    for node in statements(function.body):
        if held in loads(node):
            rewrite(node, partial(_part, held=held, names=names, parts=parts))
            work.facts.foreign[node] = None


def _part(node: Node, held: str, names: dict[str, str], parts: Parts) -> Node:
    if not isinstance(node, gast.Attribute) or getattr(node.value, "id", "") != held:
        return node
    made = name(names[node.attr]) if node.attr in names else literal_node(parts.constants[node.attr])
    return at(made, node)


_METHODS = ("pdf", "logpdf", "pmf", "logpmf", "cdf", "logcdf", "sf", "logsf", "ppf", "isf")


def expand_distributions(function: Node, work: Rewriting) -> None:
    """Spell calls of their methods out; one with a name gives its parameters names, and is no object any more.

    >>> from srcgrad.interface.show.explain import explain_text
    >>> text = "from scipy import stats\\ndef f(x, m):\\n    d = stats.norm(m, scale=2.0)\\n    return d.logpdf(x)"
    >>> print(explain_text(text, after="desugar"))
    def f(x, m):
        d_loc = m
        return stats.norm.logpdf(x, loc=d_loc, scale=2.0)
    """
    made = {target(n): n.value for n in statements(function.body) if _words(getattr(n, "value", None), work)}
    bound = [s for n in statements(function.body) for s in stores(n)]
    known: dict[str, tuple[Node, dict[str, Node]]] = {}
    for held, call in made.items():
        if held is not None and bound.count(held) == 1 and _asked_only(function, held, work):
            known[held] = (call.func, {})
    if known:
        function.body = rewrite_blocks(function.body, lambda block: _without_distributions(block, known, work))
    for node in statements(function.body):
        if any(item.attr in _METHODS for item in find_nodes(node, gast.Attribute)):
            rewrite(node, partial(_spell_method, node=node, known=known, work=work))


def _words(call: Node, work: Rewriting) -> dict[str, Node] | None:
    """The parameters that the call of a distribution gives, by name; None for any other expression."""
    if not isinstance(call, gast.Call) or any(isinstance(a, gast.Starred) for a in call.args):
        return None
    found = binding_of(call.func, work.facts, work.facts.local)
    if found is None or not is_distribution(found.object) or not callable(found.object):
        return None
    names = _parameters(found.object)
    given = dict(zip(names, call.args, strict=False)) | {w.arg: w.value for w in call.keywords}
    return given if given and len(call.args) <= len(names) and all(key in names for key in given) else None


def _parameters(distribution: Any) -> list[str]:
    if hasattr(distribution, "shapes"):
        shapes = [one.strip() for one in (distribution.shapes or "").split(",") if one.strip()]
        return [*shapes, "loc", *(["scale"] if hasattr(distribution, "pdf") else [])]
    method = getattr(distribution, "logpdf", None) or distribution.logpmf
    return list(inspect.signature(method).parameters)[1:]


def _asked_only(function: Node, held: str, work: Rewriting) -> bool:
    """Whether nothing but these methods of a name is called, and nothing of it in nested functions."""
    nested = [known.tree for known in work.facts.functions.values() if known.tree is not None]
    if any(isinstance(n, gast.Name) and n.id == held for tree in nested for n in walk(tree)):
        return False
    every = [n for s in function.body for n in walk(s)]
    reads = [n for n in every if isinstance(n, gast.Name) and n.id == held and isinstance(n.ctx, gast.Load)]
    return len(reads) == len([n for n in every if _method(n) == held])


def _method(node: Node) -> str:
    """The name of `d.logpdf(...)`."""
    function = node.func if isinstance(node, gast.Call) else None
    if not isinstance(function, gast.Attribute) or function.attr not in _METHODS:
        return ""
    return str(getattr(function.value, "id", ""))


def _without_distributions(block: Block, known: dict[str, tuple[Node, dict[str, Node]]], work: Rewriting) -> Block:
    """The block with names for the parameters of distributions in the place of these."""
    made: Block = []
    for node in block:
        held = target(node)
        if held not in known:
            made.append(node)
            continue
        for key, value in (_words(node.value, work) or {}).items():
            words = known[held][1]
            words[key] = value
            if not isinstance(value, gast.Constant):
                spelled = work.name(f"{held}_{key}")
                made.append(work.bind(spelled, value, node))
                words[key] = name(spelled)
    return made or [at(gast.Pass(), block[0])]


def _spell_method(part: Node, node: Node, known: dict[str, tuple[Node, dict[str, Node]]], work: Rewriting) -> Node:
    function = part.func if isinstance(part, gast.Call) else None
    if not isinstance(function, gast.Attribute) or function.attr not in _METHODS:
        return part
    if getattr(function.value, "id", "") in known:
        distribution, words = known[function.value.id]
    elif _words(function.value, work):
        distribution, words = function.value.func, _words(function.value, work) or {}
    else:
        distribution, words = _of_module(function.value, work)
        if distribution is None:
            return part
    part.func = at(expression(f"d.{function.attr}", d=copy(distribution)), function)
    part.keywords += [at(gast.keyword(key, at(copy(value), part)), part) for key, value in words.items()]
    work.facts.foreign[node] = None
    for item in walk(part):
        if "lineno" not in item.__dict__:
            at(item, node)
    return part


def _of_module(owner: Node, work: Rewriting) -> tuple[Node, dict[str, Node]]:
    """The distribution of a frozen one that the module has made, and what it holds."""
    found = binding_of(owner, work.facts, work.facts.local)
    held: Any = None if found is None or found.kind != "object" else found.object
    inner = getattr(held, "dist", None)
    if not is_distribution(held) or inner is None:
        return None, {}
    public = getattr(sys.modules["scipy.stats"], str(getattr(inner, "name", "")), None)
    if type(public) is not type(inner):
        return None, {}
    spelled = work.facts.library(str(getattr(inner, "name", "")), public)
    work.facts.namespace = Overlay(work.facts.namespace, {spelled: Binding("object", public)})
    names = _parameters(public)
    words = {names[k]: expression(f"d.args[{k}]", d=copy(owner)) for k in range(len(held.args))}
    words |= {key: expression(f"d.kwds[{key!r}]", d=copy(owner)) for key in held.kwds}
    return name(spelled), words


@dataclass(frozen=True)
class Maker:
    """What makes the pieces of a spline, from the arguments in this order; each other one has one of these values."""

    helper: Callable[..., Any]
    arguments: tuple[str, ...]
    required: int
    fixed: dict[str, tuple[Any, ...]]
    shows: bool = False  # whether the object has knots and coefficients of polynomials itself


SPREAD = {"axis": (0,), "extrapolate": (None, True)}
MAKERS = {
    "CubicSpline": Maker(
        pieces.cubic_pieces,
        ("x", "y", "axis", "bc_type", "extrapolate"),
        2,
        {"axis": (0,), "extrapolate": (None, True, "periodic")},
        shows=True,
    ),
    "PchipInterpolator": Maker(pieces.monotone_pieces, ("x", "y", "axis", "extrapolate"), 2, SPREAD, shows=True),
    "CubicHermiteSpline": Maker(
        pieces.hermite_pieces, ("x", "y", "dydx", "axis", "extrapolate"), 3, SPREAD, shows=True
    ),
    "make_interp_spline": Maker(
        pieces.cubic_pieces,
        ("x", "y", "k", "t", "bc_type", "axis", "check_finite"),
        2,
        {"k": (3,), "t": (None,), "axis": (0,), "check_finite": (True, False)},
    ),
    "InterpolatedUnivariateSpline": Maker(pieces.cubic_pieces, ("x", "y"), 2, {}),
}


def splines(function: Node, work: Rewriting) -> None:
    """Let knots and coefficients stand for a spline that is made here, and is called or asked for its derivative.

    >>> from srcgrad.interface.show.explain import explain_text
    >>> text = "from scipy import interpolate as i\\ndef f(x, y):\\n    s = i.CubicSpline(x, y)\\n    return s(1.5, 1)"
    >>> print(explain_text(text, after="desugar"))
    def f(x, y):
        s_x, s_c = cubic_pieces(x, y)
        return pieces_at(s_x, derived_pieces(s_c, 1), 1.5)
    """
    every = list(statements(function.body))
    if not any(_spline_arguments(n, work) for node in every for n in find_nodes(node, gast.Call)):
        return
    function.body = rewrite_statements(function.body, lambda node: _hoist_solutions(node, _name_spline, _SPOKEN, work))
    every = list(statements(function.body))
    nested = [known.tree for known in work.facts.functions.values() if known.tree is not None]
    bound = [s for n in every for s in stores(n)]
    for node in every:
        held = target(node)
        given = _spline_arguments(node.value, work) if held is not None else None
        if held is None or given is None or bound.count(held) != 1:
            continue
        reader = Reader(held, *given, work)
        trees = [function, *(tree for tree in nested if _reads(tree, held))]
        if all(reader.knows(tree) for tree in trees):
            reader.make(node)
            for tree in trees:
                for one in [n for n in walk(tree) if hasattr(n, "lineno") and isinstance(n, gast.stmt | gast.Lambda)]:
                    rewrite(one, partial(reader.read, where=one))


def _spline_arguments(call: Node, work: Rewriting) -> tuple[Maker, dict[str, Node]] | None:
    """What makes the pieces of a spline, and its arguments by name; None for any other expression."""
    if not isinstance(call, gast.Call) or any(isinstance(a, gast.Starred) for a in call.args):
        return None
    found = binding_of(call.func, work.facts, work.facts.local)
    made = found.object if found is not None and found.kind == "object" else None
    maker = MAKERS.get(getattr(made, "__name__", ""))
    if maker is None or home(made) != "scipy.interpolate":
        return None
    given = dict(zip(maker.arguments, call.args, strict=False)) | {word.arg: word.value for word in call.keywords}
    known = len(call.args) <= len(maker.arguments) and all(key in maker.arguments for key in given)
    fixed = {key: getattr(value, "value", _NONE) for key, value in given.items() if key in maker.fixed}
    ends = given.get("bc_type")
    known = known and (ends is None or literal(ends))  # a slope there may be active, and has no derivative
    known = known and (maker.shows or getattr(ends, "value", None) != "periodic")
    if not known or not all(key in given for key in maker.arguments[: maker.required]):
        return None
    return (maker, given) if all(value in maker.fixed[key] for key, value in fixed.items()) else None


_NONE = object()


def _name_spline(part: Node, node: Node, before: Block, work: Rewriting) -> Node:
    if isinstance(part, gast.Call | gast.Attribute):
        key = "func" if isinstance(part, gast.Call) else "value"
        if _spline_arguments(getattr(part, key), work):
            held = work.name("spline")
            before.append(work.bind(held, getattr(part, key), node))
            setattr(part, key, at(name(held), getattr(part, key)))
            work.facts.foreign[node] = None
    return part


def _reads(tree: Node, held: str) -> bool:
    return any(isinstance(n, gast.Name) and n.id == held for n in walk(tree))


@dataclass
class Reader:
    """A name that holds a spline, and what stands for it."""

    held: str
    maker: Maker
    given: dict[str, Node]
    work: Rewriting
    knots: str = ""
    coefficients: str = ""

    def knows(self, tree: Node) -> bool:
        """Whether nothing but values, derivatives, integrals and known parts of the spline is asked for."""
        names = [n for n in walk(tree) if isinstance(n, gast.Name) and n.id == self.held]
        if any(isinstance(n.ctx, gast.Param) for n in names):
            return False
        reads = [n for n in names if isinstance(n.ctx, gast.Load)]
        return len(reads) == len([n for n in walk(tree) if self._spline_question(n) is not None])

    def make(self, node: Node) -> None:
        """`s_x, s_c = cubic_pieces(x, y)` in the place of `s = CubicSpline(x, y)`."""
        self.knots, self.coefficients = self.work.name(f"{self.held}_x"), self.work.name(f"{self.held}_c")
        leading = self.maker.arguments[: self.maker.required]
        words = {"bc_type": self.given["bc_type"]} if "bc_type" in self.given else {}
        if getattr(words.get("bc_type"), "value", ...) is None:
            words = {}
        call = gast.Call(
            func=name(self._library(self.maker.helper)),
            args=[self.given[key] for key in leading],
            keywords=[gast.keyword(key, value) for key, value in words.items()],
        )
        node.targets = [gast.Tuple([name(one, gast.Store()) for one in (self.knots, self.coefficients)], gast.Store())]
        node.value = at(call, node.value)
        self.work.own(node, node)

    def read(self, part: Node, where: Node) -> Node:
        """What stands for `s(t)`, `s.derivative()(t)`, `s.integrate(a, b)`, `s.x` and `s.c`."""
        asked = self._spline_question(part)
        if asked is None:
            return part
        self.work.facts.foreign[where] = None
        what, order, values = asked
        if what in ("x", "c"):
            return at(name(self.knots if what == "x" else self.coefficients), part)
        c = name(self.coefficients)
        if order:
            c = expression(f"{self._library(pieces.derived_pieces)}(c, {order})", c=c)
        words: dict[str, Any] = {"x": name(self.knots), "c": c, "t": copy(values[0])}
        if what == "integral":
            call = f"{self._library(pieces.integrated_pieces)}(x, c, t, b)"
            number = "[()]" if part.func.attr == "integral" else ""  # which gives a float, `integrate` an array
            made = expression(call + number, b=copy(values[1]), **words)
        elif self._is_periodic():
            inside = f"{self._library(pieces.places_in_period)}(k, t)"
            made = expression(f"{self._library(pieces.pieces_at)}(x, c, {inside})", k=name(self.knots), **words)
        else:
            made = expression(f"{self._library(pieces.pieces_at)}(x, c, t)", **words)
        for item in walk(made):
            if "lineno" not in item.__dict__:
                at(item, part)
        return at(made, part)

    def _library(self, helper: Callable[..., Any]) -> str:
        return library(helper.__name__, helper, self.work.facts)

    def _is_periodic(self) -> bool:
        ends = getattr(self.given.get("bc_type"), "value", None)
        beyond = getattr(self.given.get("extrapolate"), "value", None)
        return self.maker.shows and (beyond == "periodic" or (ends == "periodic" and beyond is None))

    def _spline_question(self, part: Node) -> tuple[str, int, list[Node]] | None:
        """What is asked of the spline: a value or an integral, the order of the derivative, the places."""
        if isinstance(part, gast.Attribute) and self._is(part.value) and self.maker.shows:
            return (part.attr, 0, []) if part.attr in ("x", "c") else None
        if not isinstance(part, gast.Call) or any(w.arg not in ("nu", "x") for w in part.keywords):
            return None
        if isinstance(part.func, gast.Attribute) and self._is(part.func.value):
            integral = part.func.attr in ("integrate", "integral") and len(part.args) == 2 and not part.keywords
            return ("integral", 0, part.args) if integral and not self._is_periodic() else None
        order = self._order(part.func)
        given = dict(zip(("x", "nu"), part.args, strict=False)) | {w.arg: w.value for w in part.keywords}
        more = getattr(given.get("nu"), "value", None) if "nu" in given else 0
        if order is None or "x" not in given or len(part.args) > 2 or not isinstance(more, int):
            return None
        return "value", order + more, [given["x"]]

    def _order(self, called: Node) -> int | None:
        """0 for `s`, and the order of `s.derivative(nu)`."""
        if self._is(called):
            return 0
        if not isinstance(called, gast.Call) or called.keywords or not isinstance(called.func, gast.Attribute):
            return None
        if called.func.attr != "derivative" or not self._is(called.func.value):
            return None
        order = getattr(called.args[0], "value", None) if called.args else 1
        return order if isinstance(order, int) and len(called.args) < 2 else None

    def _is(self, part: Node) -> bool:
        return isinstance(part, gast.Name) and part.id == self.held
