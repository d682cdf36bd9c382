"""Kernels that run without srcgrad: what a standalone module holds to build and launch those that it has.

It is the code by which they run here, taken over as it is. Three things differ: the functions in C that the kernels
call are printed when the module is made, errors are of a class of its own, and the module tests devices itself.
"""

from __future__ import annotations

import ast
import inspect
import re
import symtable
import sys
from collections.abc import Collection, Iterable, Mapping

from srcgrad.backend.text.free_names import CopiedDefinition, OutputFunction
from srcgrad.backend.text.module import OutputParts
from srcgrad.backend.text.references import references
from srcgrad.backend.text.standalone import Key, SectionContents, section
from srcgrad.opencl.devices import device, self_test, trusted
from srcgrad.opencl.kernels import c_functions

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
