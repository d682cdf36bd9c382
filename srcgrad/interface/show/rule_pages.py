"""The rule table as text, as a page and as data.

The rule table as text: all operations, the rule of one of them, the page docs/rules.md.

What the rule table knows of the installed NumPy, name by name, and the table for programs to read.

`measured.json` holds what `python -m tests.templates.every_form --write` found: how many calls the rule table has, and
what does not pass.
"""

from __future__ import annotations

import difflib
import importlib
import inspect
import json
import math
import operator
import re
import sys
import textwrap
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

import srcgrad.templates as templates
from srcgrad.core.errors import DifferentiationError
from srcgrad.core.identity import spelling, ufunc_methods
from srcgrad.core.rules import Rule, compositions_beside, is_users, rule_of, rules
from srcgrad.frontend.resolve import METHODS
from srcgrad.interface.cli.terminal import columns
from srcgrad.templates import conventions

MEASURED = Path(__file__).with_name("measured.json")
FORWARD = {
    "elementwise": "the same lines",
    "linear": "the operation, applied to the tangent",
    "multilinear": "one argument at a time replaced by its tangent",
    "composed": "the tangent of the same text",
}


def known_rules() -> list[Rule]:
    """All rules but those of users, SciPy's if it is installed, in the order in which a reader looks for them."""
    templates.load_all()
    named = [rule for rule in rules() if not rule.name.startswith("srcgrad.") and not is_users(rule)]
    return sorted(named, key=lambda rule: (rule.name.count(".") > 1, rule.name.lower(), rule.name))


def table() -> str:
    """One line for each operation: name, kind, what there is in reverse and forward mode, note."""
    rows = [("operation", "kind", "reverse", "forward", "note")]
    rows += [(rule.name, rule.kind, *_modes(rule), rule.note) for rule in known_rules()]
    return columns(rows)


def _modes(rule: Rule) -> tuple[str, str]:
    if rule.kind in ("constant", "refused"):
        return ("zero", "zero") if rule.kind == "constant" else ("no", "no")
    forward = rule.kind in FORWARD or rule.tangent is not None
    return "yes" if rule.template or rule.composition else "no", "yes" if forward else "no"


def entry(name: str) -> str:
    """All that the table says of the operations with a name: `np.tanh`, `numpy.tanh` or `tanh`.

    Raises E5003 where there is none.
    """
    return "\n".join(_entry(rule) for rule in rules_named(name))


def rules_named(name: str) -> list[Rule]:
    """The rules of the operations with a name; E5003 where there is none."""
    wanted = name if not name.startswith("numpy.") else "np" + name[5:]
    every = known_rules()
    meant = rule_of(_object_of_name(wanted))
    found = [meant] if meant is not None else [rule for rule in every if wanted in _spellings(rule)]
    found = found or [rule for rule in every if wanted in {each.rpartition(".")[2] for each in _spellings(rule)}]
    if not found:
        names = [each for rule in every for each in _spellings(rule)]
        near = difflib.get_close_matches(wanted, names, n=3) or difflib.get_close_matches(f"np.{wanted}", names, n=3)
        remedy = f"did you mean {' or '.join(near)}?" if near else "`srcgrad rules` lists the operations that have one"
        raise DifferentiationError("E5003", f"{name} has no rule", remedy)
    return found


def _object_of_name(name: str) -> object:
    """The object of NumPy, SciPy or the standard library that a dotted name means; None if there is none."""
    root, *rest = name.split(".")
    found: object = {"np": np, "math": math, "operator": operator, "scipy": sys.modules.get("scipy")}.get(root)
    for part in rest:
        found = getattr(found, part, None)
    return found if rest else None


def _spellings(rule: Rule) -> list[str]:
    return list(dict.fromkeys([rule.name, *(spelling(op) for op in (rule.op, *rule.aliases))]))


def _entry(rule: Rule) -> str:
    lines = [f"{rule.name}: {rule.kind}", ""]
    if rule.kind == "constant":
        lines += ["Its derivative is zero wherever it exists: nothing flows through it.", ""]
    if rule.kind == "refused":
        lines += [f"It has no derivative: {rule.note}.", ""]
    if rule.composition is not None:
        lines += ["its derivative is that of:", *_source(rule.composition), ""]
    if rule.template is not None:
        lines += ["reverse:", *_source(rule.template), ""]
    if rule.tangent is not None:
        lines += ["forward:", *_source(rule.tangent), ""]
    elif rule.kind in FORWARD:
        lines += [f"forward: {FORWARD[rule.kind]}"]
    for text in dict.fromkeys(tuple(_source(beside)) for beside in compositions_beside(rule)):
        lines += ["with further arguments its derivative is that of:", *text, ""]
    if rule.kind == "elementwise":
        lines += [f"domain: {_domain(rule)}"]
    lines += [f"at {_point(args)}: gradient {_point(grads)}" for args, grads in rule.at]
    also = _spellings(rule)[1:]
    if also:
        lines += [f"also: {', '.join(also)}"]
    if rule.note and rule.kind != "refused":
        lines += [f"note: {rule.note}"]
    return "\n".join(lines).rstrip() + "\n"


def _source(template: object) -> list[str]:
    text = textwrap.dedent(inspect.getsource(template))  # type: ignore[arg-type]
    return [f"    {line}".rstrip() for line in text.rstrip().split("\n")]


def _domain(rule: Rule) -> str:
    if not isinstance(rule.domain, dict):
        return f"{rule.domain[0]} to {rule.domain[1]}"
    return ", ".join(f"{name} {low} to {high}" for name, (low, high) in rule.domain.items())


def _point(numbers: Sequence[float]) -> str:
    return ", ".join(f"{number:g}" for number in numbers)


PAGE = """\
# Rules

The operations of which srcgrad knows the derivative. Generated by `srcgrad rules --markdown`; `srcgrad rules
OP` shows the text of a rule. A function that is not here is differentiated through its Python source; where it has
none, [write a rule](write-a-rule.md).

An *elementwise* rule is one line per argument, which serves both modes. A *linear* or *multilinear* one is
written as a transpose, and its tangent is the operation itself. A *general* one is written for each mode. A *composed*
one is written out with other operations, and differentiated like a function of yours.
Functions of `math` follow the rule of NumPy's function. The last sections list operations through which no
derivative flows, and those that have none, with the reason that E5001 gives. Rules for SciPy are loaded on
request: when a function names it.

Functions that read one triangle of a matrix (`eigh`, `cholesky`, `cho_factor`, `solve` with `assume_a=`, `pinvh` and
the like) have the derivative with respect to the entries as they read them, each for itself: nothing flows to the other
triangle, and an entry off the diagonal gets what it does in both of its places. So single entries agree with finite
differences, also for a matrix of which one triangle is filled. A symmetric gradient comes from a symmetric argument:
write `0.5 * (a + a.T)` for `a` in your function, or take `0.5 * (g + g.T)` of the gradient g.

At kinks and singular points a derivative is a convention. The column *pinned* says what it is there: `0: 0`
means that the gradient at 0 is 0, `1, 1: 0.5, 0.5` that at (1, 1) both arguments get a half.
"""


def page() -> str:
    """The page docs/rules.md."""
    every = known_rules()
    parts = [PAGE]
    for family in templates.families():
        own = [rule for rule in every if _family(rule) == family]
        if own:
            module = importlib.import_module(f"{templates.__name__}.{family}")
            title = inspect.cleandoc(module.__doc__ or "").partition("\n\n")[0]
            heading = re.sub("[._]", " ", family.removeprefix("numpy.")).capitalize()
            parts.append(f"## {heading}\n\n{textwrap.fill(title, 118)}\n\n" + "".join(_rows(own)))
    parts.append("## Conventions\n\n" + CONVENTIONS + "".join(_conventions()))
    constants = [rule.name for rule in every if rule.kind == "constant" and not is_method(rule)]
    listed = textwrap.fill(", ".join(f"`{name}`" for name in constants) + ".", 118, break_on_hyphens=False)
    parts.append(
        f"## No derivative\n\n{listed}\n\nAnd the methods of the ufuncs among them, such as `np.equal.outer`.\n"
    )
    parts.append("## How it is checked\n\n" + _check_results())
    parts.append("## Not differentiable\n\n" + "".join(_reasons(every)))
    return "\n".join(parts)


CONVENTIONS = """\
What a derivative is at kinks, ties, zeros and edges, for every floating dtype. The tests run each row, with a seed of
ones. The column *order 2* has the product of the Hessian with ones: where the gradient is a convention it is nan,
unless the limit is known, never a number that is no limit.

| call | at | gradient | order 2 | because |
|---|---|---|---|---|
"""


CHECKED = """\
`make rules` calls every operation above in all of its forms: shapes that broadcast, axes, orders, modes and other
options, each spelling. Each call is compared with finite differences and by pairing, the first derivative in both
modes, the second in all four nestings of forward and reverse. Of {total} calls {passed} pass, {percent:.2f} %.
"""


def _check_results() -> str:
    found = json.loads(MEASURED.read_text(encoding="utf-8"))
    rows = "".join(f"| `{call}` | {why} |\n" for call, why in found["failed"].items())
    passed = found["calls"] - len(found["failed"])
    text = CHECKED.format(total=found["calls"], passed=passed, percent=100.0 * passed / found["calls"])
    return text + (f"\n| does not pass | what differs |\n|---|---|\n{rows}" if rows else "")


def _conventions() -> Iterator[str]:
    """The rows of the table of conventions."""
    for call, place, gradients, reason in conventions.ROWS:
        second = conventions.SECOND.get((call, place), "0.0")
        yield f"| `{call}` | {place} | {gradients} | {second} | {reason} |\n"


def is_method(rule: Rule) -> bool:
    """Whether a rule is about a method of a ufunc."""
    return type(getattr(rule.op, "__self__", None)).__name__ == "ufunc"


def _reasons(every: Sequence[Rule]) -> Iterator[str]:
    """A table of what is refused, with reasons."""
    yield "| operations | reason |\n|---|---|\n"
    refused = [rule for rule in every if rule.kind == "refused"]
    for reason in dict.fromkeys(rule.note for rule in refused):
        own = [rule for rule in refused if rule.note == reason]
        methods = dict.fromkeys(rule.name.rpartition(".")[2] for rule in own if is_method(rule))
        names = [f"`{rule.name}`" for rule in own if not is_method(rule)]
        names += [f"`{method}` of ufuncs that are not listed above" for method in methods]
        yield f"| {', '.join(names)} | {reason} |\n"


def _family(rule: Rule) -> str:
    template = rule.definition
    return "" if template is None else template.__module__.removeprefix(f"{templates.__name__}.")


def _rows(own: Sequence[Rule]) -> Iterator[str]:
    yield "| operation | kind | pinned | note |\n|---|---|---|---|\n"
    for rule in own:
        pinned = "; ".join(f"{_point(args)}: {_point(grads)}" for args, grads in rule.at)
        also = [name for name in _spellings(rule)[1:] if not name.startswith("math.")]
        names = ", ".join(f"`{name}`" for name in [rule.name, *also])
        note = rule.note.replace("|", "\\|")
        yield f"| {names} | {rule.kind} | {pinned} | {note} |\n".replace("  |", " |")


NAMESPACES = ("numpy", "numpy.linalg", "numpy.fft", "numpy.ndarray", "numpy.ufunc")


def missing_callables(*namespaces: str) -> list[str]:
    """Public callables of NumPy, methods of arrays and methods of ufuncs of which the table knows nothing.

    Other namespaces may be asked for by name, as `scipy.special`.

    >>> "np.sum" in missing_callables()
    False
    """
    known_rules()
    return [name for space in namespaces or NAMESPACES for name, op in _public_names(space) if not _is_known(name, op)]


def _public_names(space: str) -> Iterator[tuple[str, object]]:
    """The names of a namespace as a user writes them, and what they mean."""
    if space == "numpy.ufunc":
        for name, op in _members(np, "np"):
            if isinstance(op, np.ufunc):
                yield from ((f"{name}.{method}", getattr(op, method)) for method in ufunc_methods(op))
        return
    package, _, rest = space.partition(".")
    owner: object = importlib.import_module(package if package == "numpy" else space)
    for part in rest.split(".") if package == "numpy" and rest else []:
        owner = getattr(owner, part)
    yield from _members(owner, space.replace("numpy", "np", 1))


def _members(owner: object, spelled: str) -> Iterator[tuple[str, object]]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some public names of NumPy are deprecated
        found = [(name, getattr(owner, name, None)) for name in sorted(dir(owner)) if not name.startswith("_")]
    for name, op in found:
        if callable(op) and not (inspect.isclass(op) and issubclass(op, BaseException)):
            yield f"{spelled}.{name}", op


def _is_known(name: str, op: object) -> bool:
    if rule_of(op) is not None:
        return True
    space, _, last = name.rpartition(".")
    return space == "np.ndarray" and rule_of(METHODS.get(last)) is not None


def as_json(operation: str | None = None) -> str:
    """The table as JSON: one object for each operation, or for those of one name, as `srcgrad rules` prints them.

    `reverse`, `forward` and `second` tell whether there is a derivative; `opencl` is its form in kernels, or null;
    `domain` are the intervals from which tests draw; `place` is the file and the line of the rule.
    """
    return (
        json.dumps([_row(rule) for rule in (rules_named(operation) if operation else known_rules())], indent=1) + "\n"
    )


def _row(rule: Rule) -> dict[str, object]:
    carries = rule.kind not in ("constant", "refused")
    domain = rule.domain if isinstance(rule.domain, dict) else dict.fromkeys(rule.parameters[:1], rule.domain)
    return {
        "op": rule.name,
        "kind": rule.kind,
        "reverse": carries and (rule.template is not None or rule.composition is not None),
        "forward": carries and (rule.kind != "general" or rule.tangent is not None),
        "second": carries and rule.second,
        "opencl": rule.cl,
        "domain": {name: list(interval) for name, interval in domain.items()} if carries else None,
        "place": place(rule),
        "note": rule.note,
    }


def place(rule: Rule) -> str | None:
    """`templates/numpy/kinks.py:20`, where the rule is written; None for what stands in a list."""
    code = getattr(rule.definition, "__code__", None)
    if code is None:
        return None
    file = Path(code.co_filename).relative_to(Path(templates.__path__[0]).parent)
    return f"{file.as_posix()}:{code.co_firstlineno}"
