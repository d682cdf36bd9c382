"""The page docs/rules.md: `python -m tests.templates.rules_page --write` writes it.

`measured.json` holds what `python -m tests.templates.every_form --write` found: how many calls the rule table has, and
what does not pass.
"""

from __future__ import annotations

import importlib
import inspect
import json
import re
import sys
import textwrap
from collections.abc import Iterator, Sequence
from pathlib import Path

import srcgrad.templates as templates
from srcgrad.core.rules import Rule
from srcgrad.interface.show.rule_pages import is_method, known_rules, point, spellings
from tests.templates import conventions_table as conventions

MEASURED = Path(__file__).with_name("measured.json")
DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "rules.md"


PAGE = """\
# Rules

The operations of which srcgrad knows the derivative. Generated from the table of rules; `srcgrad rules
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
        pinned = "; ".join(f"{point(args)}: {point(grads)}" for args, grads in rule.at)
        also = [name for name in spellings(rule)[1:] if not name.startswith("math.")]
        names = ", ".join(f"`{name}`" for name in [rule.name, *also])
        note = rule.note.replace("|", "\\|")
        yield f"| {names} | {rule.kind} | {pinned} | {note} |\n".replace("  |", " |")


def main() -> int:
    """Write the page with `--write`; 1 if the one that is there is another."""
    if "--write" in sys.argv:
        DOCUMENT.write_text(page(), encoding="utf-8")
    return DOCUMENT.read_text(encoding="utf-8") != page()


if __name__ == "__main__":
    sys.exit(main())
