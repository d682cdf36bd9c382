"""Programs drawn from Python's reference: few names in every scope, every statement, misleading methods, aliases.

`python -m tests.random.language FIRST COUNT [SECONDS]` prints each cause that is wrong once, with the smallest program
found in SECONDS (30; 0: the whole program), and how many programs were right, refused (by code and reason), wrong,
crashed or changed what is not theirs, by judge. `python -m tests.random.language FILE` judges the program in a file.
"""

from __future__ import annotations

import collections
import sys
from pathlib import Path

from tests.random.judge import Finding, judged
from tests.random.program import program
from tests.random.shrink import shrunk

GOOD = ("right", "refused", "skipped")


def outcome(seed: int) -> Finding:
    """What is found of the program that a seed draws."""
    return judged(program(seed), seed)


def smallest(seed: int, found: Finding, seconds: float) -> str:
    """A small program with that fault."""
    return shrunk(program(seed), lambda text: judged(text, seed).cause == found.cause, seconds)


def main(first: int, count: int, seconds: float = 30.0) -> int:
    """Draw programs, print what is wrong and the counts; the number of programs with a fault."""
    verdicts: collections.Counter[str] = collections.Counter()
    judges: collections.Counter[str] = collections.Counter()
    causes: collections.Counter[str] = collections.Counter()
    undecided = 0
    for seed in range(first, first + count):
        found = outcome(seed)
        verdicts[found.verdict] += 1
        judges.update(found.judged)
        undecided += found.undecided
        if found.verdict in ("right", "skipped"):
            continue
        causes[found.cause] += 1
        if found.verdict not in GOOD and causes[found.cause] <= (3 if found.verdict == "wrong" else 1):
            print(f"--- program {seed}: {found.verdict} {found.judge}: {found.why}", flush=True)
            print(smallest(seed, found, seconds) if seconds else program(seed), flush=True)
    print(dict(verdicts))
    print(f"calls judged: {dict(judges)}; entries at kinks: {undecided}")
    for cause, number in causes.most_common():
        print(f"{number:6d} {cause[:220]}")
    return sum(verdicts[one] for one in verdicts if one not in GOOD)


if __name__ == "__main__":
    if len(sys.argv) == 2:
        print(judged(Path(sys.argv[1]).read_text(encoding="utf-8"), 0))
    else:
        sys.exit(min(main(*map(int, sys.argv[1:])), 1))
