"""What the passes do to the programs of the judge: which of them each changes, and the facts that it reads and writes.

python -m tests.passes          for each pass, how many texts it changes, and how often of how many runs
python -m tests.passes --facts  the records of facts that each reads and writes as well
"""

from __future__ import annotations

import argparse
import contextlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import fields
from typing import Any

import gast

from srcgrad import DifferentiationError, pipeline
from srcgrad.core.facts import RECORDS, Facts
from srcgrad.derive.program import Program
from srcgrad.pipeline import MODES, Pass
from tests.texts import texts

PASSES = {each.run: each.name for mode in MODES.values() for each in mode}


class Watch:
    """What passes have done while it looked."""

    def __init__(self) -> None:
        self.running: list[tuple[Any, Any]] = []  # passes within passes, each with its facts
        self.reads: dict[Any, dict[str, None]] = {run: {} for run in PASSES}
        self.writes: dict[Any, dict[str, None]] = {run: {} for run in PASSES}
        self.changed: Counter[Any] = Counter()
        self.ran: Counter[Any] = Counter()

    def call(self, one: Pass, tree: Any, facts: Any) -> Any:
        """Run a pass, and note what it does."""
        if not one.serves(facts) or one.run not in PASSES:
            return CALL(one, tree, facts)
        before, text = state(facts), shape(tree)
        self.running.append((one.run, facts))
        try:
            made = CALL(one, tree, facts)
        finally:
            self.running.pop()
        self.ran[one.run] += 1
        self.changed[one.run] += text != shape(made)
        for record, tables in state(facts).items():
            if not alike(tables, before[record]):
                self.writes[one.run][record] = None
        return made

    def read(self, facts: Any, record: str) -> None:
        """Note that a record is asked for."""
        if self.running and self.running[-1][1] is facts:
            self.reads[self.running[-1][0]][record] = None


CALL = Pass.__call__


def state(facts: Any) -> dict[str, dict[str, Any]]:
    """The tables of a function as they are now, by record."""
    found = {record: object.__getattribute__(facts, record) for record in RECORDS}
    return {
        name: {one.name: copied(getattr(record, one.name)) for one in fields(record)} for name, record in found.items()
    }


def copied(table: Any) -> Any:
    return type(table)(table) if isinstance(table, dict | list | set) else table


def alike(one: Any, other: Any) -> bool:
    """Whether a table has not changed: nodes and objects in it are the same ones."""
    if isinstance(one, dict) and isinstance(other, dict):
        return len(one) == len(other) and all(key in other and alike(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(alike, one, other))
    return one is other or (not isinstance(one, gast.AST) and type(one) is type(other) and repr(one) == repr(other))


def shape(tree: Any) -> tuple[Any, ...]:
    """A tree, or both halves of a program, as what can be compared."""
    nodes = [*tree.forward, None, *tree.backward, tree.result] if isinstance(tree, Program) else [tree]
    return tuple(below(node) for node in nodes)


def below(node: Any) -> Any:
    """A node with all that is below it."""
    if isinstance(node, gast.AST):
        return (type(node), *(below(getattr(node, one, None)) for one in node._fields if one != "ctx"))
    return tuple(map(below, node)) if isinstance(node, list) else repr(node)


@contextlib.contextmanager
def watched(watch: Watch) -> Iterator[None]:
    """Let a watch look at all passes that run."""

    class Seen(Facts):
        def __getattribute__(self, name: str) -> Any:
            if name in RECORDS:
                watch.read(self, name)
            return super().__getattribute__(name)

    known = pipeline.Facts
    pipeline.Facts, Pass.__call__ = Seen, lambda one, tree, facts: watch.call(one, tree, facts)  # type: ignore
    try:
        yield
    finally:
        pipeline.Facts, Pass.__call__ = known, CALL  # type: ignore


def records(found: dict[str, None]) -> tuple[str, ...]:
    """Some records by the names that the list of passes gives them, in the order of the facts."""
    return tuple(record.capitalize() for record in RECORDS if record in found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--facts", action="store_true")
    parser.add_argument("--every", type=int, default=1, help="look at one of so many texts")
    asked = parser.parse_args()
    total: Counter[Any] = Counter()
    watch = Watch()
    with watched(watch):
        for text in list(texts().values())[:: asked.every]:
            before = Counter(watch.changed)
            with contextlib.suppress(DifferentiationError):
                text.make()
            total.update(run for run in PASSES if watch.changed[run] > before[run])
    for run, name in PASSES.items():
        reads, writes = records(watch.reads[run]), records(watch.writes[run])
        facts = f"  {' '.join(reads) or '-'} > {' '.join(writes) or '-'}" if asked.facts else ""
        print(f"{total[run]:5} {watch.changed[run]:6} of {watch.ran[run]:6} {name}{facts}")


if __name__ == "__main__":
    main()
