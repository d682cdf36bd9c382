"""The text of one derivative with all that it needs: the derivatives of callees, imports, the user's globals."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any  # callees and globals are arbitrary objects

from srcgrad import runtime
from srcgrad.emit.module import header, import_line, import_lines, is_builtin
from srcgrad.emit.text import function as spell
from srcgrad.errors import DifferentiationError
from srcgrad.facts import Facts, Kind
from srcgrad.front.namespace import Binding, LiveNamespace, Namespace
from srcgrad.front.source import Source, source_of
from srcgrad.names import Names
from srcgrad.pipeline import Derived, analysed, derive
from srcgrad.trees import Node


@dataclass
class Module:
    """Functions of one generated text, by what they derive; names of the text are shared among them."""

    inline: bool = False  # whether calls are written out, so that the text can be differentiated again
    made: dict[Any, Derived] = field(default_factory=dict)
    pending: dict[Any, str] = field(default_factory=dict)  # derivative being made -> its name
    names: Names = field(default_factory=Names)
    specs: dict[Any, Any] = field(default_factory=dict)
    globals: dict[str, Binding] = field(default_factory=dict)
    sources: dict[int, tuple[Any, Source, Namespace]] = field(default_factory=dict)

    def source(self, function: Any) -> tuple[Source, Namespace]:
        """Source and namespace of a callee; each keeps its own."""
        known = self.sources.get(id(function))
        if known is None:
            if hasattr(function, "source") and hasattr(function, "module"):
                known = (function, function.source, function.module)
            else:
                plain = getattr(function, "__func__", function)
                known = (function, source_of(plain), LiveNamespace(plain))
            self.sources[id(function)] = known
        return known[1], known[2]

    def callee(self, function: Any, call: Node, facts: Facts) -> Source:
        """The source of a called function; E5003 at the call if it has none."""
        try:
            return self.source(function)[0]
        except DifferentiationError as error:
            raise facts.refuse(
                call,
                "E5003",
                f"the called function has no rule, and no source that can be used: {error.message}",
                "write a rule for it with @srcgrad.adjoint, or use srcgrad.stop_gradient",
            ) from error

    def derivative(
        self,
        function: Any,
        mode: str,
        wrt: tuple[str, ...],
        kinds: dict[str, Kind],
        facts: Facts | None = None,
        single: bool = True,
    ) -> str:
        """The name of the derivative of `function` in this text; it is made if it is not there yet."""
        key = (id(function), mode, wrt, tuple(sorted(kinds.items(), key=lambda item: item[0])))
        if key in self.pending:
            return self.pending[key]
        source, namespace = self.source(function)
        made = derive(source, namespace, mode, wrt, kinds, self, key, single)
        self.made[key] = made
        return made.name

    def seeds(self, name: str) -> tuple[str, ...]:
        """Names of the tangents that a forward derivative takes."""
        return next(made.facts.seeds for made in self.made.values() if made.name == name)

    def output_spec(self, function: Any, kinds: dict[str, Kind]) -> Any:
        """What is known of a callee's result: a spec, or a tuple of specs."""
        key = (id(function), tuple(sorted(kinds.items(), key=lambda item: item[0])))
        if key not in self.specs:
            self.specs[key] = None  # a recursive call learns nothing
            source, namespace = self.source(function)
            self.specs[key] = analysed(source, namespace, kinds, self)
        return self.specs[key]

    def text(self, main: Derived) -> tuple[str, dict[str, Any]]:
        """The module's text, and the objects that its free names mean outside of it."""
        parts = [made for made in self.made.values() if made is not main] + [main]
        imports: dict[str, None] = {}
        outside: dict[str, Any] = {}
        own = {made.name for made in parts}
        for made in parts:
            for name in made.free:
                if name not in own:
                    _resolve(name, made.facts, imports, outside)
        lines = [header(main.facts), *import_lines(imports)]
        if outside:
            lines += ["", f"# From the module of {main.facts.source.name}: {', '.join(sorted(outside))}."]
        return "\n".join(lines) + "\n\n\n" + "\n\n".join(spell(made.tree) for made in parts), outside


def _resolve(name: str, facts: Facts, imports: dict[str, None], outside: dict[str, Any]) -> None:
    """An import for a library name or a module, otherwise an entry in `outside`."""
    libraries = {spelled: library for library, spelled in facts.imports.items()}
    if name in libraries:
        imports[_library(libraries[name], name, facts.library_values.get(libraries[name]))] = None
        return
    user = facts.globals_as.get(name, name)
    found = facts.namespace.lookup(user)
    if found is None or found.kind != "object":
        if found is not None:
            outside[name] = found
        return
    line = import_line(name, found.object)
    if line is not None:
        imports[line] = None
    elif not is_builtin(name) or found.object is not getattr(__builtins__, name, found.object):
        if not is_builtin(name):
            outside[name] = found.object


def _library(library: str, spelled: str, value: Any) -> str:
    if library == "np":
        return f"import numpy as {spelled}"
    line = import_line(spelled, value)
    if line is not None and not hasattr(runtime, library):
        return line
    assert hasattr(runtime, library), f"{library} is in the runtime"
    return f"from srcgrad.runtime import {library}" + ("" if library == spelled else f" as {spelled}")
