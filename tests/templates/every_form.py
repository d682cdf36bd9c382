"""All forms of all rules to second order, in both modes: `python -m tests.templates.every_form [--write] [NAME ...]`.

Each call of the rule table is checked against finite differences and by pairing: the first derivative in both modes,
the second in all four nestings of them. What does not pass is printed, and then the fraction that does; the exit status
tells whether it is 99 %. With `--write` the page of rules gets what was found, by way of
`tests/templates/measured.json`.
"""

from __future__ import annotations

import json
import os
import sys
import warnings
import zlib
from collections.abc import Iterator

from srcgrad.core.errors import DifferentiationError
from srcgrad.core.rules import Rule
from srcgrad.interface.check.check import check_report, table
from tests.templates.rule_cases import Case, cases, differentiable_rules
from tests.templates.rules_page import MEASURED

GOAL = 0.99


def public() -> list[Rule]:
    """The rules of operations that users call; those of our own helpers are tested by `test_rules`."""
    return [rule for rule in differentiable_rules() if not rule.name.startswith("srcgrad.")]


def drawn(count: int) -> list[Case]:
    """As many cases, one of each rule at most, chosen by their text."""
    every = [case for rule in public() for case in cases(rule)[:1]]
    return sorted(every, key=lambda case: zlib.crc32(str(case).encode()))[:count]


def fault(case: Case) -> str:
    """What is wrong with the derivatives of a case; an empty string if nothing is."""
    order = 2 if case.rule.second else 1
    try:
        records = check_report(case.function, case.arguments(), order, directions=1)
    except (DifferentiationError, TypeError, ValueError, NameError, AttributeError, IndexError) as error:
        return f"{type(error).__name__}: {str(error).partition(chr(10))[0]}\n"
    bad = [record for record in records if not record.passed]
    return table(bad) if bad else ""


def faults(rules: list[Rule]) -> Iterator[tuple[Case, str]]:
    """Every case of the rules, with its fault."""
    for rule in rules:
        for case in cases(rule):
            yield case, fault(case)


def recorded(total: int, failed: dict[str, str]) -> str:
    """The text of `tests/templates/measured.json`."""
    return json.dumps({"calls": total, "failed": dict(sorted(failed.items()))}, indent=2) + "\n"


def reason(wrong: str) -> str:
    """The last line of a fault in one cell of a table."""
    return " ".join(wrong.strip().splitlines()[-1].split())


def main(arguments: list[str]) -> int:
    """Check the rules with these names, or all; print what fails and the fraction that passes."""
    os.environ["SRCGRAD_EVERY"] = "1"
    warnings.simplefilter("ignore")
    names = [one for one in arguments if one != "--write"]
    total, failed = 0, {}
    for case, wrong in faults([rule for rule in public() if not names or rule.name in names]):
        total += 1
        if wrong:
            failed[str(case)] = reason(wrong)
            print(f"{case}\n{wrong}", flush=True)
    passed = total - len(failed)
    print(f"{passed} of {total} calls pass: {100.0 * passed / max(total, 1):.2f} %")
    if "--write" in arguments and not names:
        MEASURED.write_text(recorded(total, failed), encoding="utf-8")
    return 0 if passed >= GOAL * total else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
