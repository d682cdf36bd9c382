"""The callable that a derivative is: made when it is first called, made anew when what it came from changes."""

from __future__ import annotations

import functools
import inspect
import threading
from collections.abc import Callable, Sequence
from typing import Any, Generic, ParamSpec, TypeVar, cast  # functions and arguments are arbitrary objects

from srcgrad.arguments import check_input, compiled_kind, kind_of, mirrors
from srcgrad.derive.kept import Saved
from srcgrad.emit.docstring import heading
from srcgrad.emit.html import Report, failure
from srcgrad.emit.sides import Sizes, sides
from srcgrad.errors import DifferentiationError
from srcgrad.executed import PULLS, Compiled, compiled, derived, module_of
from srcgrad.facts import UNKNOWN, Kind
from srcgrad.into import adding
from srcgrad.leading import ALONE, Leading
from srcgrad.like import declared_of, refined
from srcgrad.load import collection_paused
from srcgrad.modules import Module
from srcgrad.opencl.boundary import device_in, on_device
from srcgrad.opencl.device import Device
from srcgrad.opencl.helpers import equip
from srcgrad.options import Wrt, checked, locals_of, names_of, precision, remaining
from srcgrad.pickled import again, as_named, lines_of
from srcgrad.primal import given_of, in_order
from srcgrad.ready import Quick, Ready, looks, quick
from srcgrad.rules import generation
from srcgrad.running import resident_on, run, seed_like
from srcgrad.seeds import like_output

P = ParamSpec("P")  # the parameters of a function
R = TypeVar("R")  # what it returns


class Derivative(Generic[P, R]):
    """A derivative of a function: call it like the function itself.

    `.source` is the text that runs: the text for arguments of any kind until it is called, then the text that the
    last call ran, which knows which of its arguments are numbers and the ranks of the others.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        mode: str,
        wrt: Wrt,
        single: bool,
        target: str = "numpy",
        *,
        auxiliary: bool = False,
        autocast: Any = None,
        like: Any = None,
        leading: Leading = ALONE,
    ) -> None:
        self.function, self.like = function, like
        self.leading = leading
        self.__name__: str
        self.single, self.auxiliary, self.autocast = single, auxiliary, precision(autocast)
        self.target = checked(target)
        self.mode = "pull" if (mode, target) == ("vjp", "numba") else mode  # compiled code gives no closure back
        if like is not None and target == "numba":
            raise DifferentiationError("E5019", "`like` is for texts of NumPy and OpenCL", "leave it out")
        self.primal, self.bound, self.words, self.signature = given_of(function)
        inner = locals_of(self.primal) if mode in ("reverse", "value-and-grad", "vjp") else ()
        self.wrt = names_of(wrt, self.signature, len(self.bound), inner, tuple(self.words))
        self.__name__ = f"{getattr(self.primal, '__name__', 'f')}_{mode}"
        parameters = self.signature.parameters
        self.named = tuple(name for name, one in parameters.items() if one.kind is one.KEYWORD_ONLY)
        self._places = [list(parameters).index(name) if name in parameters else None for name in self.wrt]
        self._bare = len(self.wrt) == 1 and (single or self.mode in PULLS)  # whether the text returns no tuple
        self._count = -1 if self.bound or self.words else len(parameters)
        self._made: dict[Any, Compiled] = {}
        given = "{}" if self._bare else "({},)"  # how the text returns gradients, where it does: see `quick`
        self._form = {"value-and-grad": f"y, {given}", "reverse": given * (not auxiliary), "elementwise": given}
        self._lock = threading.RLock()
        self._last: Compiled | None = None

    @property
    def leading(self) -> Leading:
        """What is asked of the text beside its mode; texts that calls have found are found anew where it changes."""
        return self._leading

    @leading.setter
    def leading(self, asked: Leading) -> None:
        self._leading = asked
        self._ready: dict[Any, Ready] = {}
        self._quick: Quick | None = None

    def compiled(self, kinds: dict[str, Kind], inline: bool = False, resident: bool = False) -> Compiled:
        """The text for arguments of these kinds, executed; made if it is not there or out of date.

        With `inline`, calls of functions with source are written out, so that the text can be
        differentiated again; with `resident`, its helpers take arrays in buffers of a device.
        """
        key = (generation(), inline, resident, self.leading, *kinds.items(), *(kind.dtype for kind in kinds.values()))
        made = self._made.get(key)
        if made is None or made.stale():
            with self._lock, collection_paused():
                made = self._made[key] = compiled(self, kinds, inline)
                if resident:
                    equip(made.function.__globals__)
        if not inline:
            self._last, self._kinds = made, dict(kinds)
        return made

    def as_function(self, kinds: dict[str, Kind] | None = None) -> Callable[..., Any]:
        """The derivative as a function with source, in which calls are written out: it can be differentiated."""
        text = self.compiled(kinds or {}, inline=True)
        made: Any = text.function
        made.__srcgrad_derivative__, made.__srcgrad_stale__, made.__srcgrad_text__ = self, text.stale, text
        made.__srcgrad_real__ = tuple(p for p in self.signature.parameters if not (kinds or {}).get(p, UNKNOWN).complex)
        return cast(Callable[..., Any], made)

    def arguments(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Sequence[Any], dict[str, Kind]]:
        """All arguments in the order of the parameters, defaults filled in, and their kinds."""
        values = self.ordered(args, kwargs)
        return values, self.kinds(values)

    def ordered(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Sequence[Any]:
        """All arguments in the order of the parameters, defaults filled in."""
        if not kwargs and len(args) == self._count:
            return args
        return in_order(self.signature, self.primal, (*self.bound, *args), {**self.words, **kwargs})

    def kinds(self, values: Sequence[Any]) -> dict[str, Kind]:
        """The kinds of arguments; E5002 or E5017 for what cannot be differentiated."""
        seen_as = kind_of if self.target != "numba" else compiled_kind
        kinds = {name: seen_as(value) for name, value in zip(self.signature.parameters, values, strict=True)}
        for name, place in zip(self.wrt, self._places, strict=True):
            if place is not None:
                check_input(values[place], name)
        return refined(kinds, self.declared, values, fixed=self.like is not None)

    def ready(self, values: Sequence[Any]) -> tuple[Compiled, Device | None]:
        """The text for arguments, closely looked at where none before had their looks; the device on which some are."""
        alike, now = looks(values), generation()
        known = self._ready.get(alike)
        if known is not None and self.holds(known):
            if known.quick is None and not self.named and not known.made.written:
                known.quick = quick(known, values, self._places, self._form.get(self.mode, ""), self.result)
            self._quick = known.quick
            return known.made.apart(values, self.signature), None
        kinds, device = self.kinds(values), device_in(values)
        made = self.compiled(kinds, resident=device is not None and resident_on(device, values) is not None)
        if alike is not None:
            self._ready[alike] = Ready(made, kinds, now)
        return made.apart(values, self.signature), device

    def holds(self, known: Ready) -> bool:
        """Whether a text that has run is still that of the function; if so, it is the one that runs now."""
        if known.generation != generation() or known.made.stale():
            return False
        self._last, self._kinds = known.made, known.kinds
        return True

    @functools.cached_property
    def declared(self) -> dict[str, Kind]:
        """What annotations or examples tell of the arguments, before there are any."""
        if isinstance(self.primal, Derivative) or self.target == "numba":  # compiled code has types, and calls no check
            return self.primal.declared if self.target != "numba" else {}
        return declared_of(self.primal, self.signature, self.bound, self.like)

    @functools.cached_property
    def _kinds(self) -> dict[str, Kind]:
        return dict(self.declared)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        result: R
        known = self._quick
        if known is not None and len(args) == self._count and not kwargs and known.alike(*args):
            self._last, self._kinds = known.made, known.kinds
            result = known.finished(run(known.made.function, args, (), None, self.primal), *args)
            return result
        values = self.ordered(args, kwargs)
        made, device = self.ready(values)
        result = self.result(run(made.function, values, self.named, device, self.primal), values, device)
        return result

    def result(self, found: Any, values: Sequence[Any], device: Device | None = None) -> Any:
        """What the text returns, as users get it: adjoints mirror the arguments."""
        if self.mode == "value-and-grad":
            y, adjoints = found
            return y if device is None else on_device(y, device), self.mirrored(adjoints, values)
        if self.mode not in ("reverse", "elementwise"):
            return found
        if self.auxiliary:
            return self.mirrored(found[0], values), on_device(found[1], device)
        return self.mirrored(found, values)

    def into(self, accumulators: Any) -> Callable[..., Any]:
        """The same function, which adds the gradient to arrays that are given and returns them.

        `accumulators` mirrors what `wrt` asks for: an array for an array (one without axes for a number), a tuple for
        several, containers for containers; None stays where the gradient is None. Their dtype is the gradient's or
        wider, float32 for float16 say. What does not match raises E5024, and then nothing has been added.
        `value_and_grad(f).into(g)` returns the value as well.

        >>> import numpy as np
        >>> import srcgrad
        >>> total = np.zeros(2)
        >>> add = srcgrad.grad(lambda x: np.sum(x * x)).into(total)
        >>> add(np.array([1.0, 2.0])), add(np.array([1.0, 2.0]))
        (array([4., 8.]), array([4., 8.]))
        """
        return adding(self, accumulators)

    def forward(self, args: Any, tangents: Any, kwargs: Any = None, made: Compiled | None = None) -> Any:
        """Value and tangent, in mode hvp the tangent; a tangent for each of `wrt`; `made` runs if it is given."""
        values = self.ordered(args, kwargs or {}) if made is None else args
        by_name = dict(zip(self.signature.parameters, values, strict=True))
        made, device = self.ready(values) if made is None else (made, device_in(values))
        resident = resident_on(device, values)
        pairs = zip(made.seeds, tangents, self.wrt, strict=True)
        given = {seed: seed_like(by_name[w], tangent, resident) for seed, tangent, w in pairs}
        found = run(functools.partial(made.function, **given), values, self.named, device, self.primal)
        if self.mode == "hvp":
            return self.primal.result(found, values, device)
        y, y_dot = found
        return tuple(on_device(self.output(one, values), device) for one in (y, like_output(y_dot, y)))

    def output(self, found: Any, values: Sequence[Any]) -> Any:
        """An output of the primal; that of a gradient mirrors the arguments."""
        return self.primal.result(found, values) if isinstance(self.primal, Derivative) else found

    def mirrored(self, found: Any, values: Sequence[Any], seeds: Sequence[Any] = ()) -> Any:
        """The adjoints with class, shape and dtype of the arguments."""
        made = mirrors((found,) if self._bare else found, self._places, values, seeds)
        return made[0] if self.single else tuple(made)

    @property
    def source(self) -> str:
        """The text of the derivative."""
        return (self._last or self.compiled(self.declared)).text

    def report(self, sizes: Sizes | None = None) -> Report:
        """The text beside its source, as a page to read; `sizes` are bytes, by what is recorded and its line.

        >>> import srcgrad
        >>> srcgrad.grad(lambda x: x * x).report()
        Report(title='lambda__grad')
        """
        module = module_of(self)
        main = derived(self, module, self._kinds)
        return Report(main.name, sides(module.text(main)[0], module.made.values(), sizes))

    def _repr_html_(self) -> str:
        try:
            return self.report()._repr_html_()
        except DifferentiationError as error:
            return failure(error)

    @property
    def saved(self) -> tuple[Saved, ...]:
        """What the forward half of the text keeps for the backward half, all of it: name, value, line, who needs it.

        >>> import numpy as np
        >>> import srcgrad
        >>> def squashed(x, w, b):
        ...     h = np.tanh(x * w + b)
        ...     return np.sum(h * h)
        >>> {one.name: (one.line, one.needed) for one in srcgrad.grad(squashed, "b").saved}
        {'b': (0, (2,)), 'h': (2, (2,))}
        """
        module = Module(autocast=self.autocast, explained=True)
        kept: tuple[Saved, ...] = derived(self, module, self._kinds).facts.kept
        return kept

    @property
    def njit(self) -> Any:
        """With `target="numba"` what `numba.njit` made of the text of the last call: compiled code may call it."""
        found = getattr(self.__wrapped__, "__srcgrad_compiled__", None)
        if found is None:
            raise DifferentiationError("E5019", "there is compiled code with the target numba alone", "name it")
        return found

    @property
    def __wrapped__(self) -> Callable[..., Any]:
        return (self._last or self.compiled(self.declared)).function

    @property
    def __signature__(self) -> inspect.Signature:
        return remaining(self.signature, self.bound, self.words)

    @property
    def __doc__(self) -> str | None:  # type: ignore[override]
        return self._last.function.__doc__ if self._last else heading(self.mode, self.primal, self.wrt)

    def __reduce__(self) -> tuple[Any, ...]:
        """Copies and pickles are made again from the function, which is pickled by its name or as code."""
        options = {"auxiliary": self.auxiliary, "autocast": self.autocast or None, "like": self.like}
        wrt = self.wrt[0] if self.single else self.wrt
        given = (as_named(self.function), self.mode, wrt, self.single, self.target)
        return again, (Derivative, given, options, lines_of(self.primal))

    def __repr__(self) -> str:
        return f"<srcgrad {self.mode} of {getattr(self.primal, '__name__', 'f')} with respect to {', '.join(self.wrt)}>"
