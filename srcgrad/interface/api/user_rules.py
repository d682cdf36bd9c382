"""Rules of users in other forms than templates.

Rules of users in other forms, as templates that call them: everything else is as for any template.

Rules of users in forms other than templates: a function for both modes each, one per argument, opaque functions.
"""

from __future__ import annotations

import keyword
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any  # functions with rules are arbitrary callables

import srcgrad.templates as templates
from srcgrad.core.errors import DifferentiationError
from srcgrad.core.files import load
from srcgrad.core.identity import spelling
from srcgrad.core.rules import Rule, UserForms, d, register_own, rule_of
from srcgrad.frontend.source.functions_with_rules import Call, Function, call_of
from srcgrad.runtime import check_adjoint, check_adjoints, check_total


def adapt_rule(function: Function, own: UserForms) -> Rule:
    """The rule of a function, made of what its author gave."""
    function = getattr(function, "__srcgrad_primal__", function)
    return of_call(function, call_of(function), own)


def of_call(function: Function, call: Call, own: UserForms) -> Rule:
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


@dataclass
class Text:
    """The body of a template, and the objects that its names mean."""

    lines: list[str]
    names: dict[str, Any]
    result: str

    def spell(self, value: Any, name: str, call: Call) -> str:
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


def _name(rule: Any, default: str) -> str:
    found = str(getattr(rule, "__name__", "") or getattr(rule, "qualname", ""))
    return found if found.isidentifier() else default


def _primals(call: Call, rule: Function) -> tuple[list[str], str]:
    """The parameters in `primals`, and the keywords of a rule's call."""
    words = call.named(rule, ("", "", ""))
    listed = [p for p in call.positional if p not in words]
    return listed, "".join(f", {word}={word}" for word in words)


def _display(parts: list[str]) -> str:
    return f"({', '.join(parts)}{',' * (len(parts) == 1)})"


def _of_vjp(call: Call, rule: Function) -> Text:
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


def _of_jvp(call: Call, rule: Function) -> Text:
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


def template(call: Call, author: Any, text: Text) -> Function:
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


def register_vjp(function: Function, rule: Function | None = None) -> Any:
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


def register_jvp(function: Function, rule: Function | None = None) -> Any:
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


def sensitivity(
    function: Function, arg: int | str, *, shared: Function | None = None, accumulate: bool = False
) -> Callable[[Function], Function]:
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

    def declare(rule: Function) -> Function:
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


def _declare_form(function: Function, rule: Function | None, which: str) -> Any:
    def declare(rule: Function) -> Function:
        call_of(function).check(rule, TAKES[which])
        own = _own_forms(function)
        taken = next(iter(own.sensitivities.values()), None) if which == "vjp" else None
        _check_author(function, getattr(own, which), rule)
        if taken is not None:
            raise second_rule_error(function, taken)
        register_own(adapt_rule(function, replace(own, vjp=rule) if which == "vjp" else replace(own, jvp=rule)))
        return rule

    return declare if rule is None else declare(rule)


def _own_forms(function: Function) -> UserForms:
    """What is declared of a function so far, in these forms; E5013 if it has a rule in another one."""
    templates.load()
    known = rule_of(getattr(function, "__srcgrad_primal__", function))
    if known is None:
        return UserForms()
    if known.own is None or known.own.applied is not None:
        raise second_rule_error(function, known.definition)
    return replace(known.own, remedy={})


def _check_author(function: Function, known: Function | None, rule: Function) -> None:
    """Refuse a second rule, unless it is the first one written anew, as in a notebook."""
    if known is not None and _author(known) != _author(rule):
        raise second_rule_error(function, known)


def _author(rule: Function) -> tuple[Any, ...]:
    name = getattr(rule, "__qualname__", "")
    return (getattr(rule, "__module__", None), name) if name and "<lambda>" not in name else (id(rule),)


def second_rule_error(function: Any, known: Any) -> DifferentiationError:
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
