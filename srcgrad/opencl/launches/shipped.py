"""Kernels that run without srcgrad: what a standalone module holds to build and launch those that it has.

It is the code by which they run here, taken over as it is. Three things differ: the functions in C that the kernels
call are printed when the module is made, errors are of a class of its own, and the module tests devices itself.

Of srcgrad's own modules it holds definitions as they are: what some of them need, and no more.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import symtable
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from types import ModuleType

from srcgrad.backend.text.definitions import CopiedDefinition, OutputFunction
from srcgrad.backend.text.module import OutputParts, Reference, identifiers, local_names, references, replace_references
from srcgrad.core.errors import DifferentiationError
from srcgrad.opencl.devices import device, self_test, trusted
from srcgrad.opencl.kernels import c_functions

Key = tuple[str, str]  # a module and a name that it binds
_REMARK = re.compile(r"  # (type: ignore|noqa)\S*")


@dataclass(frozen=True)
class SectionContents:
    """What is put into a section.

    `roots` are what it is for, by their names in it (any, if empty); `elsewhere` is what the standalone module has
    already, by its name, `imports` are import lines of its own, and `taken` names that mean something else there;
    `instead` are definitions that stand for others, and `values` are the right sides of assignments.
    """

    roots: Mapping[Key, str]
    elsewhere: Mapping[Key, str] = field(default_factory=dict)
    imports: frozenset[str] = frozenset()
    taken: frozenset[str] = frozenset()
    instead: Mapping[Key, Key] = field(default_factory=dict)
    values: Mapping[Key, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Section:
    """The lines that import what is not srcgrad's, and the definitions, each module's behind those that it needs."""

    imports: tuple[str, ...]
    text: str
    names: Mapping[Key, str]  # of what it is for


class _Text:
    """A module of srcgrad as text: what its names mean."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.source = inspect.getsource(importlib.import_module(name))
        self.lines = self.source.split("\n")
        self.tree = ast.parse(self.source)
        self.definitions: dict[str, ast.stmt] = {}
        self.ours: dict[str, Key] = {}
        self.others: dict[str, str] = {}
        for node in self.tree.body:
            for bound in _bound_by_definition(node):
                self.definitions[bound] = node
        for inner in ast.walk(self.tree):
            if isinstance(inner, ast.Import | ast.ImportFrom):
                self._note_import(inner, inner in self.tree.body)

    def _note_import(self, node: ast.Import | ast.ImportFrom, outermost: bool) -> None:
        home = node.module or "" if isinstance(node, ast.ImportFrom) else ""
        if home == "__future__":
            return
        for alias in node.names:
            name = alias.asname or alias.name
            if home.partition(".")[0] == "srcgrad":
                self.ours[name] = home, alias.name
            elif outermost:
                spelled = f"{alias.name} as {alias.asname}" if alias.asname else alias.name
                self.others[name] = f"from {home} import {spelled}" if home else f"import {spelled}"

    @cached_property
    def needs(self) -> list[str]:
        """The modules of srcgrad that it imports at its top, in order."""
        found = []
        for node in self.tree.body:
            if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "srcgrad":
                home = importlib.import_module(str(node.module))
                inner = [getattr(home, alias.name) for alias in node.names]
                found += [one.__name__ if isinstance(one, ModuleType) else home.__name__ for one in inner]
        return list(dict.fromkeys(found))

    def definition(self, name: str) -> str:
        """The statement that binds a name, without imports of srcgrad inside."""
        node = self.definitions[name]
        first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))])
        gone: set[int] = set()
        for inner in ast.walk(node):
            if isinstance(inner, ast.ImportFrom) and (inner.module or "").partition(".")[0] == "srcgrad":
                last = inner.end_lineno or 0
                gone.update(range(inner.lineno, last + 1 if self.lines[last].strip() else last + 2))
        kept = [n for n in range(first, (node.end_lineno or 0) + 1) if n not in gone]
        return "\n".join(_REMARK.sub("", self.lines[n - 1]) for n in kept)


@cache
def _text(module: str) -> _Text:
    return _Text(module)


@cache
def _references(text: str) -> list[Reference]:
    return references(text)


def _bound_by_definition(node: ast.stmt) -> list[str]:
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return [node.name]
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    return [n.id for each in targets if each is not None for n in ast.walk(each) if isinstance(n, ast.Name)]


@dataclass
class _SectionWork:
    """The work on one section."""

    known: SectionContents
    found: dict[Key, str] = field(default_factory=dict)  # the text of each definition
    local: dict[Key, set[str]] = field(default_factory=dict)  # what those bind that know a definition by another name
    imports: dict[str, str] = field(default_factory=dict)  # lines by the names that they bind

    def meaning(self, module: str, parts: tuple[str, ...]) -> tuple[Key, int] | None:
        """What a dotted name is, and how many of its parts say so; None for what is not srcgrad's."""
        text = _text(module)
        if parts[0] in text.definitions:
            return self.known.instead.get((module, parts[0]), (module, parts[0])), 1
        if parts[0] not in text.ours:
            return None
        home, member = text.ours[parts[0]]
        inner = getattr(importlib.import_module(home), member)
        if isinstance(inner, ModuleType):
            deeper = self.meaning(inner.__name__, parts[1:])
            assert deeper is not None, "a module of srcgrad is asked for what it defines"
            return deeper[0], deeper[1] + 1
        found = self.meaning(home, (member,))
        assert found is not None, "what is imported from srcgrad is defined there"
        return found[0], 1

    def add(self, key: Key) -> None:
        """A definition, and all that it needs."""
        if key in self.found or key in self.known.elsewhere:
            return
        module, name = key
        text = _text(module).definition(name)
        if key in self.known.values:
            text = f"{text.partition('=')[0]}= {self.known.values[key]}"
        same = (module, _bound_by_definition(_text(module).definitions[name])[0])
        assert key == same, f"{module} binds {name} beside another name: a module of srcgrad binds them one by one"
        self.found[key] = text
        for reference in _references(text):
            found = self.meaning(module, reference.parts)
            if found is not None:
                if (found[0][1],) != reference.parts[: found[1]]:
                    self.local.setdefault(found[0], set()).update(local_names(text))
                self.add(found[0])
            elif reference.parts[0] in _text(module).others:
                root = reference.parts[0]
                self.imports[root] = _text(module).others[root]

    def order(self) -> list[str]:
        """The modules, each behind those that it needs."""
        made: dict[str, None] = {}
        homes = dict.fromkeys(module for module, _ in self.found)
        swaps: dict[str, list[str]] = {}
        for (module, _), (other, _) in self.known.instead.items():
            swaps.setdefault(module, []).append(other)

        def visit(module: str, above: tuple[str, ...]) -> None:
            if module not in homes or module in made or module in above:
                return
            for needed in [*_text(module).needs, *swaps.get(module, [])]:
                visit(needed, (*above, module))
            made[module] = None

        for module in homes:
            visit(module, ())
        return list(made)


def section(known: SectionContents) -> Section:
    """The definitions that `roots` need, under names that nothing else in the standalone module has."""
    work = _SectionWork(known)
    for key in known.roots:
        work.add(key)
    names = dict(_names_of_definitions(work))
    texts: list[str] = []
    for module in work.order():
        own = [(key, text) for key, text in work.found.items() if key[0] == module]
        places = {name: node.lineno for name, node in _text(module).definitions.items()}
        own.sort(key=lambda item: places[item[0][1]])
        purpose = (ast.get_docstring(_text(module).tree) or "").partition("\n")[0]
        texts.append(f"# {module.rpartition('.')[2]}: {purpose}")
        texts += [_spell_definition(key, text, names, work) for key, text in own]
    lines = [_import(line, name, names[name]) for name, line in work.imports.items()]
    return Section(tuple(lines), _space_definitions(texts), {key: names[key] for key in known.roots})


def _names_of_definitions(work: _SectionWork) -> Iterator[tuple[Key | str, str]]:
    """The name of each definition, and of each import by the name that modules have for it."""
    words = work.known.taken.union(*(identifiers(text) for text in work.found.values()))
    used = {*work.known.roots.values(), *work.known.elsewhere.values()}
    yield from work.known.elsewhere.items()
    for name, line in work.imports.items():
        shared = line in work.known.imports
        yield name, name if shared else _fresh(name, used, work.known.taken, words)
        used.add(name)
    for key in work.found:
        wanted = work.known.roots.get(key)
        yield key, wanted or _fresh(key[1], used, work.known.taken | work.local.get(key, set()), words)


def _fresh(name: str, used: set[str], taken: frozenset[str], words: frozenset[str]) -> str:
    made = name
    while made in used or made in taken or (made != name and made in words):
        made += "_"
    used.add(made)
    return made


def _spell_definition(key: Key, text: str, names: Mapping[Key | str, str], work: _SectionWork) -> str:
    """A definition under its name, reading others under theirs."""
    changes, strings = {}, {}
    for reference in _references(text):
        found = work.meaning(key[0], reference.parts)
        if found is not None:
            name, count = names[found[0]], found[1]
        else:
            name, count = names.get(reference.parts[0], reference.parts[0]), 1
        if (name,) == reference.parts[:count]:
            continue
        if reference.fixed:
            strings[".".join(reference.parts[:count])] = name
        else:
            changes[reference] = count, name
    assert not strings.keys() & local_names(text), "a name in an f-string has one meaning"
    made = replace_references(text, changes)
    for old, new in strings.items():
        made = _in_braces(made, old, new)
    own = _bound_by_definition(_text(key[0]).definitions[key[1]])[0]
    if names[key] != own:
        if re.search(rf"\bglobal\b.*\b{own}\b", "\n".join(work.found.values())):
            message = f"`{own}` of your module is a name that kernels have in a standalone module"
            raise DifferentiationError("E5012", message, "call yours by another name")
        made = re.sub(rf"^((?:def |class )?){own}\b", rf"\g<1>{names[key]}", made, count=1, flags=re.MULTILINE)
    return made


def _in_braces(text: str, old: str, new: str) -> str:
    """A name changed where f-strings compute with it.

    >>> print(_in_braces("f'far {far(x)}' + far", "far", "far_"))
    f'far {far_(x)}' + far
    """
    lines = text.split("\n")
    strings = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.JoinedStr)]
    inner = {id(n) for node in strings for n in ast.walk(node) if n is not node}
    spans = [(n.lineno, n.col_offset, n.end_lineno or 0, n.end_col_offset or 0) for n in strings if id(n) not in inner]
    starts = [sum(len(line) + 1 for line in lines[:k]) for k in range(len(lines))]
    found: set[int] = set()
    for first, column, last, end in spans:
        depth, place, stop = 0, starts[first - 1] + column, starts[last - 1] + end
        while place < stop:
            if depth == 0 and text[place : place + 2] in ("{{", "}}"):
                place += 2
                continue
            depth += {"{": 1, "}": -1}.get(text[place], 0)
            if depth and re.compile(rf"(?<![\w.]){re.escape(old)}\b").match(text, place):
                found.add(place)
            place += 1
    for place in sorted(found, reverse=True):
        text = text[:place] + new + text[place + len(old) :]
    return text


def _import(line: str, name: str, spelled: str) -> str:
    return line if name == spelled else f"{line.partition(' as ')[0]} as {spelled}"


def _space_definitions(texts: list[str]) -> str:
    """Two empty lines around functions and classes; constants close together."""
    made = ""
    for text, before in zip(texts, ["", *texts], strict=False):
        wide = text.startswith(("def ", "class ", "@", "#")) or before.startswith(("def ", "class ", "@"))
        gap = "" if not made else "\n" if before.startswith("# ") else "\n\n\n" if wide else "\n"
        made += gap + text
    return made


PRELUDES: dict[str, str] = {}

_HERE = __name__
_INSTEAD: dict[Key, Key] = {
    ("srcgrad.core.errors", "DifferentiationError"): (_HERE, "KernelError"),
    (c_functions.__name__, "prelude"): (_HERE, "prelude"),
    (trusted.__name__, "_command"): (_HERE, "_command"),
}
_ALWAYS = "maximum minimum"  # what the loops around call
_ANSWER: Key = (_HERE, "answer")
_HEAD = """\
# What follows is taken from srcgrad, so that it need not be installed: around the C of one element
# it puts the loops that suit the arguments, and launches them."""
_INSTALL = "run `pip install 'pyopencl[pocl]'`, which brings a runtime for the CPU"


class KernelError(Exception):
    """What is raised where kernels cannot run: a code, what is wrong, what to do."""

    def __init__(self, code: str, message: str, remedy: str) -> None:
        super().__init__(f"{code} {message}\n  what to do: {remedy}")
        self.code = code


def prelude(real: str, text: str) -> str:
    """The functions that kernels call, for `float` or `double`."""
    return PRELUDES[real]


def _command(number: int, way: str) -> list[str]:
    """What asks, in a process of its own, whether a device computes what it should: this file."""
    run = f"import sys; sys.path[:] = {sys.path!r}; import runpy; runpy.run_path({__file__!r}, None, '__main__')"
    return [sys.executable, "-W", "ignore", "-c", run, "--probe", str(number), way]


def answer() -> None:
    """Print whether a device computes what it should, if that is what this file is run for."""
    if sys.argv[1:2] == ["--probe"]:
        print(self_test.probe(int(sys.argv[2]), sys.argv[3]))


def with_kernels(found: OutputParts, kernels: Collection[str]) -> tuple[list[str], str]:
    """The imports of a standalone module, and what follows its own text, so that its kernels run.

    `kernels` are the names of the functions that are kernels.
    """
    launching = [line for line in found.imports if line.startswith("from srcgrad.opencl.")]
    others = [line for line in found.imports if line not in launching]
    if not launching:
        return others, ""
    roots = {}
    for line in launching:
        module, _, spelled = line.removeprefix("from ").partition(" import ")
        member, _, alias = spelled.partition(" as ")
        roots[module, member] = alias or member
    copied = [
        (m, text) for m, text in found.texts if isinstance(m, CopiedDefinition) and m.module.name.startswith("srcgrad.")
    ]
    known = SectionContents(
        {**roots, _ANSWER: ""},
        {(meaning.module.name, meaning.name): _names_bound(text)[0] for meaning, text in copied},
        frozenset(others),
        frozenset(name for text in [*others, *(text for _, text in found.texts)] for name in _names_meant(text)),
        _INSTEAD,
        _values(
            [text for meaning, text in found.texts if isinstance(meaning, OutputFunction) and meaning.name in kernels]
        ),
    )
    made = section(known)
    text = f'{_HEAD}\n\n{made.text}\n\n\nif __name__ == "__main__":\n    {made.names[_ANSWER]}()'
    return [*others, *made.imports], f"\n\n{text}"


def _names_meant(text: str) -> list[str]:
    """The names that a text binds, or reads from outside of itself."""
    return [*_names_bound(text), *(reference.parts[0] for reference in references(text))]


def _names_bound(text: str) -> list[str]:
    symbols = symtable.symtable(text, "<text>", "exec").get_symbols()
    return [symbol.get_name() for symbol in symbols if symbol.is_assigned() or symbol.is_imported()]


def _values(kernels: Iterable[str]) -> dict[Key, str]:
    """The right sides of assignments that are other ones where only these kernels run."""
    called = "\n".join([*(_element(text) for text in kernels), _ALWAYS])
    texts = {real: c_functions.prelude(real, called) for real in ("float", "double")}
    return {
        (_HERE, "PRELUDES"): _dict_of_texts(texts),
        (trusted.__name__, "_FUNCTIONS"): _formulas(called),
        (device.__name__, "_INSTALL"): f'"{_INSTALL}"',
    }


def _element(text: str) -> str:
    """The C of one element, without the lines of Python that it cites."""
    [kernel] = ast.parse(text).body
    assert isinstance(kernel, ast.FunctionDef), "a kernel is a function"
    return re.sub(r"//.*", "", ast.get_docstring(kernel) or "")


def _dict_of_texts(texts: Mapping[str, str]) -> str:
    """A dict of texts, each of which stands there as it is."""
    parts = ['    "{}": """\n{}\n""",'.format(real, text.strip("\n")) for real, text in texts.items()]
    return "\n".join(["{", *parts, "}"])


def _formulas(called: str) -> str:
    """What a device is asked, as far as it calls the functions that are there."""
    source = inspect.getsource(trusted)
    [formulas] = [
        n.value for n in ast.parse(source).body if isinstance(n, ast.AnnAssign) and isinstance(n.value, ast.Dict)
    ]
    asked: dict[str, str] = {}
    for key, function in zip(formulas.keys, formulas.values, strict=True):
        asked[str(ast.literal_eval(key))] = str(ast.get_source_segment(source, function))  # type: ignore[arg-type]
    there = set(c_functions.called_in(called))
    kept = [
        f'    "{text}": {function},'
        for text, function in asked.items()
        if there.issuperset(c_functions.called_in(text))
    ]
    return "\n".join(["{", *kept, "}"])
