"""What is wrong with the derivatives of one program, by differences, by the other mode, and by its own dumped text."""

from __future__ import annotations

import ast
import contextlib
import linecache
import re
import signal
import sys
import tempfile
import traceback
import types
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, is_dataclass
from pathlib import Path
from typing import Any  # arguments and results of arbitrary functions

import numpy as np

import srcgrad
from srcgrad.core.errors import DifferentiationError
from srcgrad.interface.check.check import not_mirrored
from srcgrad.interface.check.finite_differences import is_float, parts, rebuild, tangent_like, vector, vector_along
from srcgrad.interface.dump import dump

Arguments = tuple[Any, ...]
JUDGES = ("value", "gradient", "forward", "second", "dump")


@dataclass(frozen=True)
class Finding:
    """What was found: `right`, `refused`, `skipped`, `wrong`, `crash`, `changed` or `late`, by which judge, and why."""

    verdict: str
    judge: str = ""
    why: str = ""
    judged: tuple[str, ...] = ()
    undecided: int = 0  # entries of the gradient where differences see a kink

    @property
    def cause(self) -> str:
        """What findings of one cause have in common."""
        why = (
            re.sub(r"line \d+|[-+]?\d+\.?\d*(e[-+]\d+)?", "N", self.why) if self.verdict in ("crash", "refused") else ""
        )
        return f"{self.verdict} {self.judge} {re.sub(r'`[^`]*`', '`..`', why)}".strip()


class Fault(Exception):  # noqa: N818  (a finding)
    """A judge says what is wrong."""

    def __init__(self, verdict: str, judge: str, why: str) -> None:
        super().__init__(verdict, judge, why)
        self.finding = Finding(verdict, judge, why)


class Late(BaseException):
    """A call takes too long; passes that catch what they may catch do not catch this."""


@contextlib.contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Raise Late after so many seconds of this process's own time."""

    def late(*_: object) -> None:
        raise Late

    before = signal.signal(signal.SIGVTALRM, late)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0.0)
        signal.signal(signal.SIGVTALRM, before)


def seen(value: Any, depth: int = 0) -> Any:
    """All that can be seen of a value, for comparison: containers, objects, functions' cells."""
    if isinstance(value, np.ndarray):
        return "array", value.dtype.str, value.shape, value.tobytes()
    if isinstance(value, dict):
        return "dict", [(key, seen(item, depth + 1)) for key, item in value.items()]
    if isinstance(value, list | tuple):
        return type(value).__name__, [seen(item, depth + 1) for item in value]
    if isinstance(value, type | types.ModuleType | types.FunctionType) or depth > 4:
        return type(value).__name__
    if is_dataclass(value) or hasattr(value, "__dict__"):
        return type(value).__name__, seen(vars(value), depth + 1)
    return type(value).__name__, repr(value)


@dataclass
class Program:
    """A program on disk: each call of `fresh` runs it anew, so that no call sees what another one changed."""

    text: str
    path: Path

    def __post_init__(self) -> None:
        self.path.write_text(self.text, encoding="utf-8")
        linecache.checkcache(str(self.path))
        self.code = compile(self.text, str(self.path), "exec")

    def fresh(self) -> Any:
        """The module, executed anew."""
        module = types.ModuleType(self.path.stem)
        module.__file__ = str(self.path)
        sys.modules[self.path.stem] = module  # dataclasses look there
        exec(self.code, module.__dict__)
        return module

    def plain(self, change: Callable[[Arguments], Arguments] = lambda args: args) -> float:
        """The value at arguments that `change` moves."""
        module = self.fresh()
        with np.errstate(all="ignore"):
            return float(module.f(*change(module.arguments())))


def state(module: Any) -> Any:
    """The globals of a program."""
    return [(name, seen(value)) for name, value in sorted(vars(module).items()) if not name.startswith("__")]


def moved(args: Arguments, place: int, step: float, apart: bool = False) -> Arguments:
    """The arguments with one entry moved: in place, so that what shares it moves too, or each array apart."""
    start = 0

    def change(part: Any) -> Any:
        nonlocal start
        if not is_float(part):
            return part.copy() if apart and isinstance(part, np.ndarray) else part
        if not isinstance(part, np.ndarray):
            start += 1
            return type(part)(part + step) if start - 1 == place else part
        part = part.copy() if apart else part
        if start <= place < start + part.size:
            part[np.unravel_index(place - start, part.shape)] += step
        start += part.size
        return part

    moved_args: Arguments = rebuild(args, change)
    return moved_args


def doubled(args: Arguments) -> Arguments:
    """The arguments in double precision, where one is not."""
    if not halved(args):
        return args
    double: Arguments = rebuild(args, lambda part: np.float64(part) if is_float(part) and np.ndim(part) == 0
                                and not isinstance(part, np.ndarray) else part.astype(float) if is_float(part) else part)  # fmt: skip
    return double


def amiss(error: DifferentiationError, text: str) -> str:
    """Why a refusal of a program that runs is a fault: a text made of it fails, or no line of its own is named."""
    if error.message.startswith(("the rule does not hold", "the derivative fails")):
        return "a text made here fails"
    if error.place is None:
        return "no place is named"
    return "" if error.place.text.strip() in text else f"another text is named, `{error.place.text.strip()}`"


def refusal(error: DifferentiationError, text: str) -> str:
    """What is said of a program that is refused: `refused CODE: message`, or `wrong: why` where it must not be so."""
    why = amiss(error, text)
    return f"wrong: {why}: {error.code} {error.message}" if why else f"refused {error.code}: {error.message}"


def halved(args: Arguments) -> bool:
    """Whether some argument is of single precision."""
    return any(is_float(part) and np.asarray(part).dtype == np.float32 for _, part in parts(args))


def near(found: Any, wanted: Any, tolerance: float) -> bool:
    """Whether two numbers agree."""
    return bool(np.all(np.abs(np.asarray(found) - wanted) <= tolerance * (1.0 + np.abs(wanted))))


def slope(program: Program, place: int, apart: bool) -> float | None:
    """The derivative along one entry by differences; None at a kink or where steps do not agree."""
    try:
        at = {step: program.plain(lambda args, step=step: moved(doubled(args), place, step, apart))
              for step in (0.0, 1e-5, -1e-5, 1e-6, -1e-6)}  # fmt: skip
    except Exception:  # the program itself fails beside its arguments
        return None
    large, small = (at[1e-5] - at[-1e-5]) / 2e-5, (at[1e-6] - at[-1e-6]) / 2e-6
    one_sided = (at[1e-6] - at[0.0]) / 1e-6, (at[0.0] - at[-1e-6]) / 1e-6
    if not np.isfinite([large, small, *one_sided]).all() or not near(large, small, 1e-4):
        return None
    return small if near(*one_sided, 1e-3) else None


def by_differences(program: Program, args: Arguments, gradient: np.ndarray, moving: Arguments) -> int:
    """Compare each entry with differences; how many are at a kink."""
    undecided, single = 0, halved(args)
    if single and not near(program.plain(doubled), program.plain(), 1e-3):
        return gradient.size  # the program asks for the type: in double precision it goes another way
    arrays = [part for _, part in parts(args) if isinstance(part, np.ndarray)]
    sharing = any(np.shares_memory(one, two) for k, one in enumerate(arrays) for two in arrays[:k])
    for place in range(gradient.size):
        wanted = slope(program, place, apart=False)
        if wanted is None:
            undecided += 1
            continue
        found = gradient[place]
        tolerance = 3e-3 if single else 2e-4
        if sharing:
            before, after = vector(moving), vector(moved(program.fresh().arguments(), place, 0.5)[: len(moving)])
            found = float(gradient @ (after - before)) / 0.5 if after.size == gradient.size else found
        if near(found, wanted, tolerance):
            continue
        other = slope(program, place, apart=True)
        if other is not None and near(gradient[place], other, tolerance):
            continue
        if goes_by_zero(program, place, tolerance):
            undecided += 1
        else:
            raise Fault(
                "wrong", "gradient", f"entry {place} is {gradient[place]}, by differences {wanted}; all: {gradient}"
            )
    return undecided


def goes_by_zero(program: Program, place: int, tolerance: float) -> bool:
    """Whether a program asks a number whether it is 0, which it is here, and is right beside it: `a and b` at a = 0."""
    asked = [n for n in ast.walk(ast.parse(program.text)) if isinstance(n, ast.BoolOp | ast.If | ast.IfExp | ast.Not)]
    args = program.fresh().arguments()
    if not asked or not any(is_float(part) and np.any(np.asarray(part) == 0.0) for _, part in parts(args)):
        return False

    def beside(given: Arguments) -> Arguments:
        for number in range(vector(given).size):
            given = moved(given, number, 1e-3 * (number + 1.0))
        return given

    module = program.fresh()
    given = beside(module.arguments())
    where = tuple(k for k, one in enumerate(given) if any(is_float(part) for _, part in parts(one)))
    try:
        with np.errstate(all="ignore"):
            found = vector_along(tuple(given[k] for k in where), srcgrad.grad(module.f, wrt=where)(*given))
    except (DifferentiationError, KeyError):
        return False
    ahead = [program.plain(lambda args, step=step: moved(beside(args), place, step)) for step in (1e-6, -1e-6)]
    return near(found[place], (ahead[0] - ahead[1]) / 2e-6, tolerance)


def entries(tree: Any, gradient: Any, judge: str) -> np.ndarray:
    """The entries of a gradient, or Fault where it has not the structure of its arguments."""
    try:
        return vector_along(tree, gradient)
    except KeyError as error:
        raise Fault("wrong", f"{judge} structure", f"the gradient lacks {error}") from None


@dataclass
class Case:
    """One program with its plain value, whose derivatives are judged one after the other."""

    program: Program
    seed: int
    value: float
    kind: Any  # the type and dtype of the plain value
    before: Any
    after: Any  # what the plain call leaves of the arguments' module
    where: tuple[int, ...]
    judged: list[str]
    undecided: int = 0

    def run(self, judge: str, call: Callable[[Callable[..., Any], Arguments], Any]) -> Any:
        """The result of a derivative's call; its exceptions, and what it changes, are findings."""
        module = self.program.fresh()
        before = state(module)
        args = module.arguments()
        kept = seen(args)
        shared = state(module)
        try:
            with limited(20.0), np.errstate(all="ignore"):
                found = call(module.f, args)
        except DifferentiationError as error:
            raise self.refused(error, judge) from None
        except Late:
            raise Fault("late", judge, "more than 20 s") from None
        except Exception as error:
            if re.match(r"E50\d\d ", str(error)):  # a check of a dumped text, which runs here without srcgrad around it
                raise Fault("refused", judge, str(error)) from None
            raise Fault("crash", judge, blame(error)) from error
        if seen(args) != kept:
            raise Fault("changed", judge, "an argument")
        if state(module) not in (before, shared) and state(module) != self.after:
            raise Fault("changed", judge, "a global")
        self.judged.append(judge)
        return found

    def refused(self, error: DifferentiationError, judge: str, where: str = "") -> Fault:
        """A refusal, or a crash where it is a fault."""
        why = amiss(error, self.program.text)
        verdict = "crash" if why else "refused"
        return Fault(verdict, judge, f"{where}{why}{': ' * bool(why)}{error.code}: {error.message}")

    def check_value(self, value: Any, judge: str, single: bool) -> None:
        number = np.asarray(value)
        if (
            number.shape != ()
            or number.dtype.kind not in "biufc"
            or not near(number, self.value, 1e-5 if single else 1e-9)
        ):
            raise Fault("wrong", f"{judge} value", f"{value}, the plain call gives {self.value}")
        if np.asarray(value).dtype != self.kind:
            raise Fault("wrong", f"{judge} dtype", f"{np.asarray(value).dtype}, the plain call gives {self.kind}")

    def judge(self) -> None:
        """Raise Fault at the first derivative that is not right."""
        args = self.program.fresh().arguments()
        single, where = halved(args), self.where
        moving = tuple(args[k] for k in where)
        value, gradient = self.run("reverse", lambda f, args: srcgrad.value_and_grad(f, wrt=where)(*args))
        self.check_value(value, "reverse", single)
        flat = entries(moving, gradient, "reverse")
        if broken := not_mirrored(moving, gradient, "g"):
            raise Fault("wrong", "reverse structure", "; ".join(broken))
        self.undecided = by_differences(self.program, args, flat, moving)
        if not np.isfinite(flat).all():
            raise Fault("wrong", "finite", f"gradient {flat}, the value is {self.value}; differences see kinks there")

        def ways(given: Arguments) -> Arguments:  # their classes are those of the module that runs
            numbers = np.random.default_rng(self.seed)
            return tuple(tangent_like(one, numbers.normal(size=vector(one).size)) for one in given)

        value, along = self.run("forward", lambda f, args: srcgrad.jvp(f, args, ways(args)))
        self.check_value(value, "forward", single)
        along_args = ways(args)
        steps = vector_along(moving, tuple(along_args[k] for k in where))
        scale = float(np.abs(flat) @ np.abs(steps))
        if np.shape(along) != () or not abs(along - flat @ steps) <= (1e-4 if single else 1e-8) * (1.0 + scale):
            raise Fault("wrong", "pairing", f"reverse {flat @ steps}, forward {along}; gradient {flat}")
        if self.seed % 3 == 0 and not single:
            self.second(args)
        if self.seed % 4 in (0, 1):
            self.dumped(flat, single)

    def second(self, args: Arguments) -> None:
        """The second derivative along a direction, against differences of the first."""
        if not isinstance(args[0], np.ndarray) or 0 not in self.where:
            return
        way = np.random.default_rng(self.seed + 1).normal(size=args[0].shape)
        found = self.run("second", lambda f, args: srcgrad.hvp(f)(*args, way))

        held: list[Any] = []  # what is derived once serves at all steps, as long as its module stays as it was

        def gradient(step: float) -> np.ndarray:
            module, before, derived = held or (made := self.program.fresh(), state(made), srcgrad.grad(made.f))
            given = module.arguments()
            with np.errstate(all="ignore"):
                found = np.asarray(derived(np.asarray(given[0] + step * way), *given[1:]))
            held[:] = [module, before, derived] if state(module) == before else []
            return found

        try:
            at = {step: gradient(step) for step in (0.0, 1e-5, -1e-5, 1e-6, -1e-6)}
        except DifferentiationError as error:
            raise self.refused(error, "second", "beside the arguments: ") from None
        large, small = (at[1e-5] - at[-1e-5]) / 2e-5, (at[1e-6] - at[-1e-6]) / 2e-6
        forth, back = (at[1e-6] - at[0.0]) / 1e-6, (at[0.0] - at[-1e-6]) / 1e-6
        smooth = np.isfinite(large) & (np.abs(large - small) < 1e-4 * (1.0 + np.abs(large)))
        smooth &= np.abs(forth - back) < 1e-3 * (1.0 + np.abs(forth))
        if np.any(np.abs(np.asarray(found) - small)[smooth] > 1e-3 * (1.0 + np.abs(small))[smooth]):
            raise Fault("wrong", "second", f"hvp {found}, differences of the gradient {small}")

    def dumped(self, flat: np.ndarray, single: bool) -> None:
        """The text of the command line, imported here, against what `value_and_grad` gives."""
        module = self.program.fresh()
        names = tuple(module.f.__code__.co_varnames[k] for k in self.where)
        try:
            with limited(20.0):
                text = dump(f"{self.program.path}:f", mode="value-and-grad", wrt=names).text
        except DifferentiationError as error:  # less is known of what is only text
            if amiss(error, self.program.text):
                raise self.refused(error, "dump") from None
            return
        except Late:
            raise Fault("late", "dump", "more than 20 s") from None
        except Exception as error:
            raise Fault("crash", "dump", blame(error)) from error
        module = sys.modules["dumped"] = types.ModuleType("dumped")  # dataclasses look there
        made: dict[str, Any] = module.__dict__

        def call(f: Any, args: Arguments) -> Any:
            lines = text.splitlines(keepends=True)
            linecache.cache["<dumped>"] = (len(text), None, lines, "<dumped>")  # as of a file: pullback_of reads it
            exec(compile(text, "<dumped>", "exec"), made)
            return next(made[name] for name in made if name.startswith("f_"))(*args)

        try:
            value, gradient = self.run("dumped", call)
        except Fault as fault:
            if fault.finding.verdict == "refused":  # a check in one line says what it was not made for
                return
            raise
        gradient = gradient if len(self.where) > 1 else (gradient,)
        self.check_value(value, "dumped", single)
        args = self.program.fresh().arguments()
        again = entries(tuple(args[k] for k in self.where), gradient, "dumped")
        if not near(again, flat, 1e-4 if single else 1e-8):
            raise Fault("wrong", "dumped gradient", f"{again}, made here {flat}")


def blame(error: BaseException) -> str:
    """The exception, and the innermost function of srcgrad that it went through."""
    frames = traceback.extract_tb(error.__traceback__)
    inner = [frame for frame in frames if "/srcgrad/" in frame.filename and "<" not in frame.filename]
    last = frames[-1]
    own = inner[-1] if inner else last
    where = f"{Path(own.filename).parent.name}/{Path(own.filename).name}:{own.name}"
    text = "" if "/srcgrad/" in last.filename else f" in `{last.line}`"
    return f"{type(error).__name__} {str(error)[:200]} at {where}{text}"


def judged(text: str, seed: int) -> Finding:
    """What is found of one program."""
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path = Path(folder, f"drawn_{seed}.py")
        try:
            with limited(2.0), np.errstate(all="ignore"):
                program = Program(text, path)
                module = program.fresh()
                args = module.arguments()
                before = state(module)
                result = module.f(*args)
                after = state(module)
                again = program.plain()
        except (Exception, Late):
            return Finding("skipped", why="the plain call fails")
        finally:
            sys.modules.pop(path.stem, None)
        if (
            not np.isfinite(again)
            or abs(again) > 1e4
            or np.shape(result) != ()
            or np.asarray(result).dtype.kind not in "biuf"
        ):
            return Finding("skipped", why="the value is not finite, or large")
        args = module.arguments()
        where = tuple(k for k, one in enumerate(args) if any(is_float(part) for _, part in parts(one)))
        case = Case(program, seed, again, np.asarray(result).dtype, before, after, where, [])
        try:
            case.judge()
        except Fault as fault:
            found = fault.finding
            return Finding(found.verdict, found.judge, found.why, tuple(case.judged), case.undecided)
        finally:
            sys.modules.pop(path.stem, None)
    return Finding("right", judged=tuple(case.judged), undecided=case.undecided)
