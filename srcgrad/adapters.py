"""Rules of users in other forms, as templates that call them: everything else is as for any template."""

from __future__ import annotations

import keyword
from dataclasses import dataclass, replace
from typing import Any  # functions with rules are arbitrary callables

from srcgrad.load import load
from srcgrad.own import Own
from srcgrad.rules import Rule, d
from srcgrad.runtime import check_adjoint, check_adjoints, check_total
from srcgrad.signatures import Call, Function, call_of


def adapted(function: Function, own: Own) -> Rule:
    """The rule of a function, made of what its author gave."""
    function = getattr(function, "__srcgrad_primal__", function)
    return of_call(function, call_of(function), own)


def of_call(function: Function, call: Call, own: Own) -> Rule:
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


def _remedies(call: Call, own: Own) -> dict[str, str]:
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


def _of_sensitivities(call: Call, own: Own) -> Text:
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


def _of_accumulators(call: Call, own: Own) -> Text:
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
