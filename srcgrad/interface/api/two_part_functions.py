"""Classes with `forward` and `backward`.

A class of two halves as functions of its primals: what its second derivatives are taken of.

Functions that are written as two halves: a class with `forward` and `backward`.
"""

from __future__ import annotations

import hashlib
import inspect
import linecache
from collections.abc import Callable
from dataclasses import replace
from types import FunctionType
from typing import Any  # the halves are arbitrary functions

import gast

import srcgrad.templates as templates
from srcgrad.core.errors import DifferentiationError
from srcgrad.core.facts import Names
from srcgrad.core.marks import opaque
from srcgrad.core.rules import Rule, UserForms, register_own
from srcgrad.core.source_text import source_of
from srcgrad.core.trees import Block, Node, copy, expression, name, own_names, statement, statements, stores, walk
from srcgrad.frontend.source.functions_with_rules import Call, call_of
from srcgrad.interface.api.user_rules import Text, fresh, of_call, start, template
from srcgrad.runtime import Context, check_adjoint, check_adjoints

Primal = Callable[..., Any]


def of_primals(owner: Any, half: str, given: str) -> Primal:
    """A rule `(primals, given, output)`: what `forward` keeps is computed of the primals, then comes the other half.

    `half` is backward or jvp, and `given` what it takes: cotangent or tangents. What `forward` keeps of its own
    result is read from `output`. Raises E5003 where the text does not say what is kept.
    """
    first, other = (copy(source_of(getattr(owner, which)).tree) for which in ("forward", half))
    names = Names(sorted({n.id for tree in (first, other) for n in walk(tree) if isinstance(n, gast.Name)}))
    taken = [names.fresh(one) for one in ("primals", given, "output")]
    _separate_locals(first, other, names)
    kept = _KeptNames(owner, names)
    body = kept.forward(first, taken[2])
    parameters = [a.id for a in _positional_parameters(first)[1:]]
    unpacked = ", ".join(parameters) + "," * (len(parameters) == 1)
    start = [statement(f"{unpacked} = {taken[0]}")]
    own = [a.id for a in _positional_parameters(other)[1:]]
    if half == "backward":
        start.append(statement(f"{own[0]} = {taken[1]}"))
    else:
        start.append(statement(f"{', '.join(own)}{',' * (len(own) == 1)} = {taken[1]}"))
    words = [a.id for a in first.args.kwonlyargs]
    title = f"{owner.__name__}_{'vjp' if half == 'backward' else 'jvp'}"
    lines = [gast.unparse(gast.fix_missing_locations(node)) for node in [*start, *body, *kept.other(other)]]
    text = "\n    ".join("\n".join(lines).split("\n"))
    return _load_half(f"def {title}({', '.join([*taken, *words])}):\n    {text}\n", title, owner, half)


def _positional_parameters(tree: Node) -> list[Node]:
    return [*tree.args.posonlyargs, *tree.args.args]


def _separate_locals(first: Node, other: Node, names: Names) -> None:
    """Give the locals of the second half names that the first does not have."""
    clash = own_names(first) & own_names(other)
    spelled = {one: names.numbered_name(one) for one in sorted(clash)}
    for item in walk(other):
        if isinstance(item, gast.Name):
            item.id = spelled.get(item.id, item.id)


class _KeptNames:
    """What a call keeps, as local names: `saved` for `ctx.saved_tensors`, one more for each attribute."""

    def __init__(self, owner: Any, names: Names) -> None:
        self.owner, self.names = owner, names
        self.spelled: dict[str, str] = {}
        self.attributes: dict[str, str] = {}

    def forward(self, tree: Node, output: str) -> Block:
        """The statements of `forward`, without its return."""
        last = tree.body[-1]
        returns = [n for n in statements(tree.body) if isinstance(n, gast.Return)]
        if not isinstance(last, gast.Return) or len(returns) != 1:
            raise self.refusal("`forward` returns in several places")
        results = self._results(tree, last.value, output)
        body = [
            self._keep_statement(node, _positional_parameters(tree)[0].id, results)
            for node in tree.body[:-1]
            if not _is_text(node)
        ]
        return self._check_uses(body, _positional_parameters(tree)[0].id)

    def other(self, tree: Node) -> Block:
        """The statements of the other half."""
        context = _positional_parameters(tree)[0].id
        body = [self._keep_statement(node, context, {}) for node in tree.body if not _is_text(node)]
        return self._check_uses(body, context)

    def refusal(self, what: str) -> DifferentiationError:
        return DifferentiationError(
            "E5003",
            f"the class {self.owner.__qualname__} has no second derivative: {what}",
            "keep values by one `ctx.save_for_backward(...)` and by `ctx.name = ...`, and return at the end only",
        )

    def _results(self, tree: Node, value: Node, output: str) -> dict[str, Node]:
        """Names that hold the result, or a part of it, when they are kept."""
        bound = [s for n in statements(tree.body) for s in stores(n)]
        if isinstance(value, gast.Tuple):
            pairs = [(item, expression(f"{output}[{k}]")) for k, item in enumerate(value.elts)]
        else:
            pairs = [(value, name(output))]
        return {n.id: part for n, part in pairs if isinstance(n, gast.Name) and bound.count(n.id) == 1}

    def _keep_statement(self, node: Node, context: str, results: dict[str, Node]) -> Node:
        """A statement with what it keeps, or reads of what was kept, under local names."""
        for inner in ("body", "orelse"):
            if getattr(node, inner, None):
                setattr(node, inner, [self._keep_statement(one, context, results) for one in getattr(node, inner)])
        called = node.value if isinstance(node, gast.Expr) and isinstance(node.value, gast.Call) else None
        if called is not None and _attribute(called.func, context) == "save_for_backward":
            made = gast.Assign(
                [name(self._name("saved_tensors", "saved"), gast.Store())],
                gast.Tuple(elts=[_swap_result(a, results) for a in called.args], ctx=gast.Load()),
                None,
            )
            return self._read(made, context)
        targets = node.targets if isinstance(node, gast.Assign) else []
        if len(targets) == 1 and (kept := _attribute(targets[0], context)):
            node.targets = [name(self._name(kept, kept), gast.Store())]
            node.value = _swap_result(node.value, results)
        return self._read(node, context)

    def _name(self, attribute: str, stem: str) -> str:
        if attribute not in self.attributes:
            self.attributes[attribute] = self.names.fresh(stem)
        return self.attributes[attribute]

    def _read(self, node: Node, context: str) -> Node:
        for owner in list(walk(node)):
            for key in owner._fields:
                part = getattr(owner, key, None)
                parts = part if isinstance(part, list) else [part]
                for place, value in enumerate(parts):
                    attribute = _attribute(value, context)
                    if attribute not in self.attributes:
                        continue
                    made = name(self.attributes[attribute])
                    if isinstance(part, list):
                        part[place] = made
                    else:
                        setattr(owner, key, made)
        return node

    def _check_uses(self, body: Block, context: str) -> Block:
        if any(isinstance(n, gast.Name) and n.id == context for node in body for n in walk(node)):
            raise self.refusal(f"what `{context}` is used for cannot be told")
        return body


def _swap_result(value: Node, results: dict[str, Node]) -> Node:
    return copy(results[value.id]) if isinstance(value, gast.Name) and value.id in results else value


def _is_text(node: Node) -> bool:
    return isinstance(node, gast.Expr) and isinstance(node.value, gast.Constant)


def _attribute(node: Any, context: str) -> str:
    """The attribute of the context that an expression reads or binds."""
    holder = node.value if isinstance(node, gast.Attribute) else None
    return str(node.attr) if isinstance(holder, gast.Name) and holder.id == context else ""


def _load_half(text: str, title: str, owner: Any, half: str) -> Primal:
    """The function of a text, with the names of the class's module."""
    filename = f"<{owner.__qualname__} {hashlib.sha256(text.encode()).hexdigest()[:10]}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    plain = [inspect.unwrap(getattr(owner, which)) for which in ("forward", half)]
    first = getattr(plain[0], "__func__", plain[0])
    outside: dict[str, Any] = dict(first.__globals__)
    closures = [inspect.getclosurevars(one).nonlocals for one in plain]
    scope = {**outside, **closures[0], **closures[1]}
    exec(compile(text, filename, "exec"), scope)
    made: Primal = scope[title]
    if not any(closures) and isinstance(made, FunctionType):
        return FunctionType(made.__code__, first.__globals__, title)
    return made


class Function:
    """A function in two halves. Subclass it, write both as static methods, and call `apply`.

    `forward(ctx, *args)` gives the value; it keeps what the other half needs by `ctx.save_for_backward(...)` or as
    attributes of `ctx`, which is one object per call. `backward(ctx, y_bar)` gives one adjoint per argument, None for
    one that has no derivative. Where `forward` gives a tuple, `y_bar` is one; or else `backward(ctx, y_bar, index)`
    is called for each output that matters, and what it gives is added up. `jvp(ctx, *tangents)`, if there is one,
    gives the tangent of the value, for forward mode.

    >>> from srcgrad import Function, grad
    >>> class Square(Function):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         ctx.save_for_backward(x)
    ...         return x * x
    ...     @staticmethod
    ...     def backward(ctx, y_bar):
    ...         (x,) = ctx.saved_tensors
    ...         return 2.0 * x * y_bar
    >>> def f(x): return 3.0 * Square.apply(x)
    >>> f(2.0), grad(f)(2.0)
    (12.0, 12.0)
    """

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        templates.load()
        if cls.lacks():
            opaque(cls.apply)
        else:
            register_own(of_class(cls))

    @classmethod
    def has(cls, half: str) -> bool:
        """Whether a half is written, in the class or in one above it."""
        own = inspect.getattr_static(cls, half, None)
        return own is not None and own is not inspect.getattr_static(Function, half, None)

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """The value, as `forward` gives it; derivatives flow through this call."""
        if not cls.has("forward"):
            raise missing_half(cls, "forward")
        half: Any = cls.forward
        return half(Context(*args), *args, **kwargs)

    @staticmethod
    def forward(ctx: Context, *args: Any) -> Any:
        """The value; to be written."""
        raise missing_half(Function, "forward")

    @staticmethod
    def backward(ctx: Context, *adjoints: Any) -> Any:
        """The adjoints of the arguments; to be written."""
        raise missing_half(Function, "backward")

    @classmethod
    def lacks(cls) -> str:
        """The name of a half that is not written, or nothing."""
        return next((half for half in ("forward", "backward") if not cls.has(half)), "")


INDICES = ("index", "idx", "out_index", "out_idx")  # what the third parameter of `backward` may be called


def missing_half(owner: type, half: str) -> DifferentiationError:
    """E5003 for a half that is not written."""
    return DifferentiationError(
        "E5003", f"the class {owner.__qualname__} has no `{half}`", f"write `{half}(ctx, ...)` in it, a static method"
    )


def of_class(owner: type[Function]) -> Rule:
    """The rule of `owner.apply`: its halves, as templates call them."""
    halves: Any = owner
    call = call_of(halves.forward, name=f"{owner.__module__}.{owner.__qualname__}", skipped=1)
    call = replace(call, name=f"{owner.__module__}.{owner.__name__}")
    own = UserForms(applied=owner, context=fresh(call, "ctx"), index=_index(owner))
    if call.variadic:
        raise DifferentiationError(
            "E5013", f"the `forward` of {owner.__qualname__} takes arguments without names", "name its parameters"
        )
    backward = template(call, halves.forward, _of_backward(owner, call, own))
    tangent = template(call, halves.forward, _of_jvp(owner, call, own)) if hasattr(owner, "jvp") else None
    tangents = ", ".join(f"{p}_dot" for p in call.positional)
    remedy = f"write `jvp(ctx, {tangents})` in the class {owner.__qualname__}, which returns the tangent of the output"
    own = replace(own, remedy={"forward": remedy}, again=lambda: _rule_again(owner, call))
    return Rule(owner.apply, call.name, "general", backward, tangent, own=own)


def _rule_again(owner: type[Function], call: Call) -> Rule:
    """The rule in text that is differentiated again: of functions that say what is kept."""
    if _index(owner):
        raise DifferentiationError(
            "E5003",
            f"the class {owner.__qualname__} has no second derivative: its `backward` takes one output at a time",
            "define it as `backward(ctx, y_bar)`, which takes the adjoints of all outputs as a tuple",
        )
    vjp = of_primals(owner, "backward", "cotangent")
    jvp = of_primals(owner, "jvp", "tangents") if hasattr(owner, "jvp") else None
    remedy = {"forward": f"write `jvp(ctx, ...)` in the class {owner.__qualname__}"}
    return of_call(owner.apply, call, UserForms(vjp=vjp, jvp=jvp, remedy=remedy))


def _index(owner: type[Function]) -> str:
    """The third parameter of `backward`, for which it gets the place of an output; E5013 for any other."""
    halves: Any = owner
    parameters = list(inspect.signature(halves.backward).parameters.values())[2:]
    if not parameters:
        return ""
    if len(parameters) > 1 or parameters[0].name not in INDICES:
        raise DifferentiationError(
            "E5013",
            f"the `backward` of {owner.__qualname__} takes {parameters[0].name}",
            "define it as `backward(ctx, y_bar)`, or `backward(ctx, y_bar, index)` for one output at a time",
        )
    return parameters[0].name


def _of_backward(owner: type[Function], call: Call, own: UserForms) -> Text:
    text = start(call)
    spelled, check = text.spell(owner, owner.__name__, call), text.spell(check_adjoints, "check_adjoints", call)
    place = f", {fresh(call, own.index)}" if own.index else ""
    given = f"{check}({spelled}.backward({own.context}, d[{text.result}]{place}), {own.context}.inputs)"
    if len(call.positional) == 1:
        text.lines = [f"d[{call.positional[0]}] = {given}[0]"]
    else:
        t = fresh(call, "t")
        text.lines = [f"{t} = {given}", *(f"d[{p}] = {t}[{k}]" for k, p in enumerate(call.positional))]
    return text


def _of_jvp(owner: type[Function], call: Call, own: UserForms) -> Text:
    text = start(call)
    spelled, check = text.spell(owner, owner.__name__, call), text.spell(check_adjoint, "check_adjoint", call)
    tangents = "".join(f", d[{p}]" for p in call.positional)
    text.lines = [f"d[{text.result}] = {check}({spelled}.jvp({own.context}{tangents}), {text.result})"]
    return text
