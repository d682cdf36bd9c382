"""Rules of users in forms other than templates, as templates that call them: everything else is as for any template.

A function for both modes each, one per argument, opaque functions, and classes of two halves, `forward` and
`backward`.
"""

from __future__ import annotations

import hashlib
import inspect
import keyword
import linecache
from collections.abc import Callable
from types import FunctionType
from typing import Any  # functions with rules are arbitrary callables

import gast

import srcgrad.templates as templates
from srcgrad.core.errors import DifferentiationError
from srcgrad.core.facts import Names
from srcgrad.core.files import load
from srcgrad.core.identity import record, replace, spelling
from srcgrad.core.marks import opaque
from srcgrad.core.rules import Rule, UserForms, d, register_own, rule_of
from srcgrad.core.source_text import source_of
from srcgrad.core.trees import (
    Block,
    Node,
    copy,
    expression,
    find_nodes,
    is_docstring,
    name,
    own_names,
    statement,
    statements,
    stores,
    walk,
)
from srcgrad.frontend.functions_with_rules import Call, call_of
from srcgrad.runtime import Context, check_adjoint, check_adjoints, check_total
from srcgrad.runtime.hooks import stop_gradient
from srcgrad.runtime.roots import root_at


def adapt_rule(function: object, own: UserForms) -> Rule:
    """The rule of a function, made of what its author gave."""
    function = getattr(function, "__srcgrad_primal__", function)
    return of_call(function, call_of(function), own)


def of_call(function: object, call: Call, own: UserForms) -> Rule:
    """The rule of a function that is called so."""
    reverse = forward = None
    if own.vjp is not None:
        reverse = template(call, own.vjp, _of_vjp(call, own.vjp))
    elif own.sensitivities or own.accumulators:
        own = replace(
            own, missing=tuple(p for p in call.positional if p not in (*own.sensitivities, *own.accumulators))
        )
        reverse = template(call, None, _of_sensitivities(call, own))
        own = replace(own, adding=template(call, None, _of_accumulators(call, own)) if own.accumulators else None)
    if own.jvp is not None:
        forward = template(call, own.jvp, _of_jvp(call, own.jvp))
    own = replace(own, remedy=own.remedy or _remedies(call, own))
    return Rule(function, call.name, "general", reverse, forward, own=own)


def _remedies(call: Call, own: UserForms) -> dict[str, str]:
    """What to write where a derivative asks for a rule that is not there, with its signature."""
    name = call.name.rpartition(".")[2].strip("<>") or "f"
    found = {
        "forward": f"write `@srcgrad.register_jvp({name})` above `def {name}_jvp(primals, tangents, output)`, "
        "which returns the tangent of the output",
        "reverse": f"write `@srcgrad.register_vjp({name})` above `def {name}_vjp(primals, cotangent, output)`, "
        "which returns one adjoint per argument",
    }
    arguments = ", ".join(("y", "y_bar", *call.positional))
    for parameter in own.missing:
        found[parameter] = (
            f"write `@srcgrad.sensitivity({name}, arg={parameter!r})` above `def {name}_{parameter}({arguments})`, "
            "which returns the adjoint, or None if there is none"
        )
    return found


@record
class Text:
    """The body of a template, and the objects that its names mean."""

    lines: list[str]
    names: dict[str, Any]
    result: str

    def spell(self, value: object, name: str, call: Call) -> str:
        """A name for an object that no parameter has, and no other object."""
        name = name if name.isidentifier() and not keyword.iskeyword(name) else "rule"
        while name in (*call.positional, *call.words, call.variadic, "d", self.result) or (
            self.names.get(name, value) is not value
        ):
            name += "_"
        self.names[name] = value
        return name


def start(call: Call) -> Text:
    """An empty body, with a name for the result."""
    taken = (*call.positional, *call.words, call.variadic)
    result = "z"
    while result in taken:
        result += "_"
    return Text([], {}, result)


def fresh(call: Call, stem: str) -> str:
    """A name that no parameter has."""
    while stem in (*call.positional, *call.words, call.variadic):
        stem += "_"
    return stem


def _name(rule: object, default: str) -> str:
    found = str(getattr(rule, "__name__", "") or getattr(rule, "qualname", ""))
    return found if found.isidentifier() else default


def _primals(call: Call, rule: object) -> tuple[list[str], str]:
    """The parameters in `primals`, and the keywords of a rule's call."""
    words = call.named(rule, ("", "", ""))
    listed = [p for p in call.positional if p not in words]
    return listed, "".join(f", {word}={word}" for word in words)


def _display(parts: list[str]) -> str:
    return f"({', '.join(parts)}{',' * (len(parts) == 1)})"


def _of_vjp(call: Call, rule: object) -> Text:
    text = start(call)
    spelled = text.spell(rule, _name(rule, f"{call.stem}_vjp"), call)
    check = text.spell(check_adjoints, "check_adjoints", call)
    listed, words = _primals(call, rule)
    primals, z = call.variadic or _display(listed), text.result
    given = f"{check}({spelled}({primals}, d[{z}], {z}{words}), {primals})"
    if call.variadic:
        text.lines = [f"d[{call.variadic}] = {given}"]
    elif len(listed) == 1:
        text.lines = [f"d[{listed[0]}] = {given}[0]"]
    else:
        t = fresh(call, "t")
        text.lines = [f"{t} = {given}", *(f"d[{p}] = {t}[{k}]" for k, p in enumerate(listed))]
    return text


def _of_jvp(call: Call, rule: object) -> Text:
    text = start(call)
    spelled = text.spell(rule, _name(rule, f"{call.stem}_jvp"), call)
    check = text.spell(check_adjoint, "check_adjoint", call)
    listed, words = _primals(call, rule)
    primals = call.variadic or _display(listed)
    tangents = f"d[{call.variadic}]" if call.variadic else _display([f"d[{p}]" for p in listed])
    text.lines = [f"d[{text.result}] = {check}({spelled}({primals}, {tangents}, {text.result}{words}), {text.result})"]
    return text


def _of_sensitivities(call: Call, own: UserForms) -> Text:
    text, z = start(call), ""
    z = text.result
    check = text.spell(check_adjoint, "check_adjoint", call)
    arguments = "".join(f", {p}" for p in call.positional)
    commons: dict[int, str] = {}
    for parameter in call.positional:
        rule = own.sensitivities.get(parameter)
        if rule is None:  # added in place, or refused where it is asked for
            text.lines.append(f"d[{parameter}] = {check}(d[{z}], {parameter})")
            continue
        shared = own.shared.get(parameter)
        first = ""
        if shared is not None:
            if id(shared) not in commons:
                commons[id(shared)] = fresh(call, f"t{len(commons) + 1}")
                words = "".join(f", {w}={w}" for w in call.words)
                spelled = text.spell(shared, _name(shared, "shared"), call)
                text.lines.append(f"{commons[id(shared)]} = {spelled}({z}, d[{z}]{arguments}{words})")
            first = f"{commons[id(shared)]}, "
        words = "".join(f", {w}={w}" for w in call.words)
        spelled = text.spell(rule, _name(rule, f"{call.stem}_{parameter}"), call)
        text.lines.append(f"d[{parameter}] = {check}({spelled}({first}{z}, d[{z}]{arguments}{words}), {parameter})")
    return text


def _of_accumulators(call: Call, own: UserForms) -> Text:
    text = start(call)
    check = text.spell(check_total, "check_total", call)
    arguments = "".join([*(f", {p}" for p in call.positional), *(f", {w}={w}" for w in call.words)])
    for parameter, rule in own.accumulators.items():
        spelled = text.spell(rule, _name(rule, f"{call.stem}_{parameter}"), call)
        given = f"{spelled}(d[{parameter}], {text.result}, d[{text.result}]{arguments})"
        text.lines.append(f"d[{parameter}] = {check}({given}, {parameter})")
    return text


def template(call: Call, author: object, text: Text) -> Any:
    """The function that a template is, from its text; it stands where the rule of its author does."""
    name = f"{call.stem}_rule"
    while name in text.names:
        name += "_"
    body = "\n    ".join(text.lines)
    parameters = ", ".join([text.result, *filter(None, [call.parameters])])
    made = load(f"def {name}({parameters}):\n    {body}\n", name, call.name, {**text.names, "d": d})
    made.__module__ = getattr(author, "__module__", None) or made.__module__
    return made


TAKES = {"vjp": ("primals", "cotangent", "output"), "jvp": ("primals", "tangents", "output")}


def register_vjp(function: object, rule: object | None = None) -> Any:
    """Declare the reverse rule of a function: `rule(primals, cotangent, output)` gives one adjoint per argument.

    `primals` are the arguments of the call in the order of the parameters, defaults filled in; None in the result
    stands for an argument that has no derivative. An argument that the rule names itself, and one that can be given
    by keyword only, comes by its name and not in `primals`. Without `rule` it is a decorator. Adjoints have the
    shapes of their primals, or the common one where the primals broadcast (E5004). E5013 for a rule that cannot be
    called so, or where there is another one.

    >>> from srcgrad import grad, register_vjp
    >>> def area(width, height): return width * height
    >>> @register_vjp(area)
    ... def area_vjp(primals, cotangent, output):
    ...     width, height = primals
    ...     return cotangent * height, cotangent * width
    >>> grad(area, wrt=(0, 1))(2.0, 3.0)
    (3.0, 2.0)
    """
    return _declare_form(function, rule, "vjp")


def register_jvp(function: object, rule: object | None = None) -> Any:
    """Declare the forward rule of a function: `rule(primals, tangents, output)` gives the tangent of the output.

    `primals` are those of `register_vjp`; `tangents` has one entry for each, zero where nothing flows, and None
    for what is no number.

    >>> from srcgrad import jvp, register_jvp
    >>> def volume(side): return side * side * side
    >>> @register_jvp(volume)
    ... def volume_jvp(primals, tangents, output):
    ...     return 3.0 * primals[0] * primals[0] * tangents[0]
    >>> jvp(volume, (2.0,), (1.0,))
    (8.0, 12.0)
    """
    return _declare_form(function, rule, "jvp")


def implicit(solver: Primal, residual: Primal) -> Primal:
    """The function that `solver` computes, with the derivative of the root of `residual` that the result is.

    `solve = srcgrad.implicit(solver, residual)` takes the arguments of `residual` after its first, and gives
    `solver(*args)`: a number x, or an array, at which `residual(x, *args)` is zero, with as many elements as x. The
    solver may be anything, compiled code or a search: it is called, and not looked into. Derivatives of all orders, in
    both modes, are those of the implicit function theorem at x: dx = -(dr/dx)^-1 (dr/dargs) dargs.

    A derivative raises ArithmeticError (E5001) where x is no root of the residual, as after a search that did not
    converge, or where several roots meet; DifferentiationError (E5013) is raised where `residual` has no names for its
    parameters. What `residual` reads of a function around it is constant: pass it as an argument.

    >>> import srcgrad
    >>> def by_newton(k):
    ...     x = 1.0
    ...     while abs(x * x - k) > 1e-12:
    ...         x = 0.5 * (x + k / x)
    ...     return x
    >>> square_root = srcgrad.implicit(by_newton, lambda x, k: x * x - k)
    >>> round(srcgrad.grad(square_root)(4.0), 6), round(srcgrad.grad(srcgrad.grad(square_root))(4.0), 6)
    (0.25, -0.03125)
    """

    @opaque
    def found_by(*args: object) -> object:
        return solver(*args)

    templates.load_for("scipy.optimize")
    call = call_of(residual, skipped=1)
    found = fresh(call, "x")
    names = {
        fresh(call, "solver"): found_by,
        fresh(call, "residual"): residual,
        fresh(call, "stop_gradient"): stop_gradient,
        fresh(call, "root_at"): root_at,
    }
    of, equation, constant, root = names
    given = "".join(f"{p}, " for p in call.positional)
    still = ", ".join(f"{constant}({p})" for p in call.positional)
    lines = [
        f"def solve({call.parameters}):",
        f"    {found} = {of}({still})",
        f"    return {root}({equation}, {found}, ({given}))",
    ]
    return load("\n".join(lines) + "\n", "solve", f"implicit {call.name}", names)


def sensitivity(
    function: object, arg: int | str, *, shared: object | None = None, accumulate: bool = False
) -> Callable[[Any], Any]:
    """A decorator that declares the reverse rule of one argument, a position or a name.

    `rule(y, y_bar, *args)` gives the adjoint of that argument; it runs only where that adjoint is asked for. With
    `shared`, `shared(y, y_bar, *args)` runs once for all the arguments that name it, and its value comes first:
    `rule(common, y, y_bar, *args)`. With `accumulate`, `rule(x_bar, y, y_bar, *args)` adds to the array `x_bar` in
    place, and returns it.

    >>> from srcgrad import grad, sensitivity
    >>> def area(width, height): return width * height
    >>> @sensitivity(area, arg="width")
    ... def area_width(y, y_bar, width, height): return y_bar * height
    >>> grad(area)(2.0, 3.0)
    3.0
    """

    def declare(rule: object) -> Any:
        call = call_of(function)
        parameter = _parameter(call, arg)
        own = _own_forms(function)
        if own.vjp is not None:
            raise second_rule_error(function, own.vjp)
        first = ("x_bar",) if accumulate else ("common",) if shared is not None else ()
        call.check(rule, (*first, "y", "y_bar", *call.positional))
        slot = own.accumulators if accumulate else own.sensitivities
        _check_author(function, slot.get(parameter), rule)
        changed = {**slot, parameter: rule}
        own = replace(own, accumulators=changed) if accumulate else replace(own, sensitivities=changed)
        if shared is not None:
            own = replace(own, shared={**own.shared, parameter: shared})
        register_own(adapt_rule(function, own))
        return rule

    return declare


def _declare_form(function: object, rule: object | None, which: str) -> Any:
    def declare(rule: object) -> Any:
        call_of(function).check(rule, TAKES[which])
        own = _own_forms(function)
        taken = next(iter(own.sensitivities.values()), None) if which == "vjp" else None
        _check_author(function, getattr(own, which), rule)
        if taken is not None:
            raise second_rule_error(function, taken)
        register_own(adapt_rule(function, replace(own, vjp=rule) if which == "vjp" else replace(own, jvp=rule)))
        return rule

    return declare if rule is None else declare(rule)


def _own_forms(function: object) -> UserForms:
    """What is declared of a function so far, in these forms; E5013 if it has a rule in another one."""
    templates.load()
    known = rule_of(getattr(function, "__srcgrad_primal__", function))
    if known is None:
        return UserForms()
    if known.own is None or known.own.applied is not None:
        raise second_rule_error(function, known.definition)
    return replace(known.own, remedy={})


def _check_author(function: object, known: object | None, rule: object) -> None:
    """Refuse a second rule, unless it is the first one written anew, as in a notebook."""
    if known is not None and _author(known) != _author(rule):
        raise second_rule_error(function, known)


def _author(rule: object) -> tuple[object, ...]:
    name = getattr(rule, "__qualname__", "")
    return (getattr(rule, "__module__", None), name) if name and "<lambda>" not in name else (id(rule),)


def second_rule_error(function: object, known: object) -> DifferentiationError:
    """E5013 for a second rule of one function."""
    name = spelling(getattr(function, "__srcgrad_primal__", function))
    by = (
        "it is declared to have no derivative"
        if known is None
        else f"`{getattr(known, '__name__', getattr(known, 'qualname', known))}`"
    )
    return DifferentiationError("E5013", f"{name} has a rule already ({by})", "remove one of the two")


def _parameter(call: Call, arg: int | str) -> str:
    names = call.positional
    if isinstance(arg, int) and not isinstance(arg, bool) and -len(names) <= arg < len(names):
        return names[arg]
    if arg in names:
        return str(arg)
    raise DifferentiationError(
        "E5013", f"{call.name} has no argument {arg!r}", f"its arguments are: {', '.join(names) or 'none'}"
    )


Primal = Callable[..., Any]


def of_primals(owner: Any, half: str, given: str) -> Primal:
    """A rule `(primals, given, output)`: what `forward` keeps is computed of the primals, then comes the other half.

    `half` is backward or jvp, and `given` what it takes: cotangent or tangents. What `forward` keeps of its own
    result is read from `output`. Raises E5003 where the text does not say what is kept.
    """
    first, other = (copy(source_of(getattr(owner, which)).tree) for which in ("forward", half))
    names = Names(sorted({n.id for tree in (first, other) for n in find_nodes(tree, gast.Name)}))
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
            if not is_docstring(node)
        ]
        return self._check_uses(body, _positional_parameters(tree)[0].id)

    def other(self, tree: Node) -> Block:
        """The statements of the other half."""
        context = _positional_parameters(tree)[0].id
        body = [self._keep_statement(node, context, {}) for node in tree.body if not is_docstring(node)]
        return self._check_uses(body, context)

    def refusal(self, what: str) -> DifferentiationError:
        return DifferentiationError(
            "E5003",
            f"the class {self.owner.__qualname__} has no second derivative: {what}",
            "keep values by one `ctx.save_for_backward(...)` and by `ctx.name = ...`, and return at the end only",
        )

    def _results(self, tree: Node, value: Node | None, output: str) -> dict[str, Node]:
        """Names that hold the result, or a part of it, when they are kept."""
        bound = [s for n in statements(tree.body) for s in stores(n)]
        if isinstance(value, gast.Tuple):
            pairs: list[tuple[Node | None, Node]] = [
                (item, expression(f"{output}[{k}]")) for k, item in enumerate(value.elts)
            ]
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
    outside: dict[str, object] = dict(first.__globals__)
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

    def __init_subclass__(cls, **kwargs: object) -> None:
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
    def apply(cls, *args: object, **kwargs: object) -> Any:
        """The value, as `forward` gives it; derivatives flow through this call."""
        if not cls.has("forward"):
            raise missing_half(cls, "forward")
        half: Any = cls.forward
        return half(Context(*args), *args, **kwargs)

    @staticmethod
    def forward(ctx: Context, *args: object) -> Any:
        """The value; to be written."""
        raise missing_half(Function, "forward")

    @staticmethod
    def backward(ctx: Context, *adjoints: object) -> Any:
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
    tangent = template(call, halves.forward, _tangent_of_halves(owner, call, own)) if hasattr(owner, "jvp") else None
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


def _tangent_of_halves(owner: type[Function], call: Call, own: UserForms) -> Text:
    text = start(call)
    spelled, check = text.spell(owner, owner.__name__, call), text.spell(check_adjoint, "check_adjoint", call)
    tangents = "".join(f", d[{p}]" for p in call.positional)
    text.lines = [f"d[{text.result}] = {check}({spelled}.jvp({own.context}{tangents}), {text.result})"]
    return text
