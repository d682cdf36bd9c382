"""The definitions that an output needs, and the names under which they stand in it: never two under one."""

from __future__ import annotations

import keyword
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any  # the objects that a live text is executed with

from srcgrad.emit.definition import renamed
from srcgrad.emit.meaning import Builtin, Copied, Found, Import, Literal, Made, Meaning, Outside, Unknown
from srcgrad.emit.references import Reference, identifiers, local_names, references, replaced
from srcgrad.errors import DifferentiationError, Place
from srcgrad.frozen import record


@dataclass(frozen=True, eq=False)
class Piece:
    """One definition: its text, what it defines, where its names are looked up, where an error in it is.

    `chosen` maps names that srcgrad chose, which may be changed to the plain one, as `math_` to `math`.
    """

    text: str
    meaning: Meaning
    find: Callable[[tuple[str, ...]], Found]
    place: Callable[[str], Place | None]
    chosen: dict[str, str] = field(default_factory=dict)
    line: int = 0  # of a value: what it reads must come before
    lines: tuple[int, ...] = ()  # of a derivative: for each line of the text the user's line, or 0


@record(frozen=True)
class Read:
    """One reference of a piece, with its meaning."""

    piece: Piece
    reference: Reference
    found: Found


Follow = Callable[[Meaning], "Piece | None"]


@dataclass
class Pieces:
    """Pieces of one output in the order in which they were added, after all that they need."""

    follow: Follow  # the piece that defines what a name means; None for what needs none
    order: list[Piece] = field(default_factory=list)
    reads: list[Read] = field(default_factory=list)
    known: dict[Meaning, None] = field(default_factory=dict)
    open: list[Piece] = field(default_factory=list)

    def copy(self) -> Pieces:
        """The state now, to go back to where a piece is refused."""
        return Pieces(self.follow, list(self.order), list(self.reads), dict(self.known))

    def add(self, piece: Piece) -> None:
        """Add a piece and all that it needs; E5012 for a name that cannot be told."""
        self.known[piece.meaning] = None
        self.open.append(piece)
        told: dict[tuple[str, ...], Found] = {}
        for reference in references(piece.text):
            found = told.get(reference.parts)
            if found is not None:
                self.reads.append(Read(piece, reference, found))
                continue
            found = told[reference.parts] = piece.find(reference.parts)
            self._check(piece, reference, found.meaning)
            self.reads.append(Read(piece, reference, found))
            if found.meaning not in self.known:
                needed = self.follow(found.meaning)
                if needed is not None:
                    self.add(needed)
        self.open.pop()
        self.order.append(piece)

    def _check(self, piece: Piece, reference: Reference, meaning: Meaning) -> None:
        root = reference.parts[0]
        if isinstance(meaning, Unknown):
            raise _refusal(piece, root, meaning.reason)
        circle = any(item.meaning == meaning and _is_value(meaning) for item in self.open)
        if circle:
            raise _refusal(piece, root, f"the value of {root} is computed from itself")
        own = piece.meaning
        if _is_value(own) and _is_value(meaning) and own.module is meaning.module:  # type: ignore[union-attr]
            needed = self.follow(meaning)
            if needed is not None and needed.line > piece.line:
                raise _refusal(piece, root, f"{root} is bound anew after it was read here")


def _is_value(meaning: Meaning) -> bool:
    return isinstance(meaning, Copied) and meaning.function is None


def _refusal(piece: Piece, root: str, reason: str) -> DifferentiationError:
    reader = piece.meaning.name if isinstance(piece.meaning, Copied) else ""
    who = f", which {reader} reads," if reader else ""
    return DifferentiationError(
        "E5012",
        f"`{root}`{who} cannot be written into the output: {reason}",
        "bind the name once at module level, to a function or to an expression that stands by itself, "
        "or pass the value as an argument",
        piece.place(root),
    )


@dataclass
class Written:
    """The parts of an output: import statements, texts with what they define, objects from outside."""

    imports: list[str]
    texts: list[tuple[Meaning, str]]
    outside: dict[str, Any]


@dataclass
class _Naming:
    """Names of the output and what they mean; `words` are all that any piece could use for itself."""

    words: frozenset[str]
    meaning: dict[str, Meaning] = field(default_factory=dict)
    spelled: dict[Meaning, list[str]] = field(default_factory=dict)

    def claim(self, name: str, meaning: Meaning) -> str:
        """Let `name` have this meaning in the whole output."""
        names = self.spelled.setdefault(meaning, [])
        if self.meaning.setdefault(name, meaning) == meaning and name not in names:
            names.append(name)
        return name

    def choose(self, read: Read, local: frozenset[str]) -> str:
        """The name under which a piece reads something: its own, if no other means another thing by it."""
        root, meaning, known = (
            read.reference.parts[0],
            read.found.meaning,
            self.spelled.get(read.found.meaning, []),
        )
        chosen = read.piece.chosen.get(root)
        wanted = [*known, chosen, root] if chosen else [read.reference.parts[read.found.count - 1], *known]
        for name in wanted:
            if self.meaning.get(name, meaning) == meaning and (name == root or name not in local):
                return self.claim(name, meaning)
        fresh = wanted[0]
        while fresh in self.words or fresh in self.meaning or keyword.iskeyword(fresh):
            fresh += "_"
        return self.claim(fresh, meaning)


def write(pieces: Pieces) -> Written:
    """The texts of all pieces, under names that no two of them share."""
    place = {piece: number for number, piece in enumerate(pieces.order)}
    local = {piece: local_names(piece.text) for piece in pieces.order}
    naming = _Naming(frozenset().union(*(identifiers(piece.text) for piece in pieces.order)))
    changes: dict[Piece, dict[Reference, tuple[int, str]]] = {piece: {} for piece in pieces.order}
    for piece in pieces.order:
        if isinstance(piece.meaning, Made):
            naming.claim(piece.meaning.name, piece.meaning)
    reads = sorted(pieces.reads, key=lambda read: _rank(read, place[read.piece]))
    for read in reads:
        parts, count = read.reference.parts, read.found.count
        name = naming.choose(read, local[read.piece])
        if (name,) == parts[:count]:
            continue
        if read.reference.fixed or parts[0] in local[read.piece]:
            raise _refusal(read.piece, parts[0], f"two functions mean different things by {parts[0]}")
        changes[read.piece][read.reference] = (count, name)
    texts: list[tuple[Meaning, str]] = []
    for piece in pieces.order:
        texts += _texts(piece, replaced(piece.text, changes[piece]), naming)
    return Written(_imports(reads, naming), texts, _outside(naming))


def _rank(read: Read, place: int) -> tuple[int, int, Any]:
    """Fixed names choose first, then the user's in the order of the output, then those that srcgrad chose."""
    fixed = isinstance(read.found.meaning, Made | Builtin)
    chosen = read.reference.parts[0] in read.piece.chosen
    return (0 if fixed else 2 if chosen else 1, place, read.reference.start)


def _texts(piece: Piece, text: str, naming: _Naming) -> list[tuple[Meaning, str]]:
    if not isinstance(piece.meaning, Copied | Literal):
        return [(piece.meaning, text)]
    head = text.removeprefix("async ").removeprefix("def ").removeprefix("class ")
    own = head.partition("(")[0].partition(" =")[0].partition(":")[0]
    first, *others = naming.spelled.get(piece.meaning, [own])
    aliases = [(Literal(first), f"{other} = {first}") for other in others]
    return [(piece.meaning, text if own == first else renamed(text, own, first)), *aliases]


def _imports(reads: Sequence[Read], naming: _Naming) -> list[str]:
    found: dict[str, None] = {}
    for meaning, names in naming.spelled.items():
        if isinstance(meaning, Import):
            also = [read.found.also for read in reads if read.found.meaning == meaning]
            submodules = dict.fromkeys(name for each in also for name in each)
            if submodules and names == [meaning.module]:
                found |= {f"import {name}": None for name in submodules}
            else:
                found |= {meaning.line(name): None for name in names}
    return list(found)


def _outside(naming: _Naming) -> dict[str, Any]:
    pairs: Iterable[tuple[Meaning, list[str]]] = naming.spelled.items()
    return {name: meaning.value for meaning, names in pairs if isinstance(meaning, Outside) for name in names}
