"""Failures inside of a rule: what a function of NumPy takes, and the text that stands for it does not."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from types import FrameType
from typing import Any  # what functions give

import numpy as np

import srcgrad.runtime
from srcgrad.errors import DifferentiationError
from srcgrad.places import OURS, origin_of, users_place
from srcgrad.rules import Rule, rules

FAILURES = (TypeError, ValueError, IndexError, KeyError, AttributeError, ZeroDivisionError)
_LIBRARIES = {"srcgrad", "numpy", "scipy", *sys.stdlib_module_names}
_OF_SHAPES = ("fit_to", "row_count")  # helpers that meet what does not fit together first: the caller's error
_HELPERS = str(Path(srcgrad.runtime.__file__).parent)
_RULES = str(Path(import_module("srcgrad.templates").__path__[0]).resolve())


def failed_rule(error: Exception, again: Callable[[], Any] | None = None) -> Exception:
    """E5006 for an error that a helper of a rule raises, or a text whose operation takes these arguments.

    What the operation does not take is the caller's error, and stays as it is. So does what a user's rule raises, and
    what values alone decide, as that a matrix is singular. `again` runs the function itself.
    """
    inside, place = False, None
    for frame, number in traceback.walk_tb(error.__traceback__):
        file = frame.f_code.co_filename
        if file.startswith(_HELPERS):
            inside = frame.f_code.co_name not in _OF_SHAPES
        elif file.startswith(OURS):
            origin = origin_of(file, number)
            place = place if within_rules(file, number) else users_place(file, number)
            inside = origin is not None and within_rules(file, number) and (inside or _is_taken(frame, origin))
        elif str(frame.f_globals.get("__name__")).partition(".")[0] not in _LIBRARIES:
            return error  # of a function of the user, which a helper or the text calls
    if not isinstance(error, FAILURES) or not (inside or _runs(again, error)):
        return error
    what = f"the rule does not hold for these arguments: {type(error).__name__}: {error}"
    return DifferentiationError("E5006", what, "pass an array of another shape or kind, or leave it out of wrt", place)


def within_rules(file: str, number: int) -> bool:
    """Whether a line of a text comes from an operation that a rule writes out with others."""
    origin = origin_of(file, number)
    return origin is not None and origin[0].startswith(_RULES)


def _runs(again: Callable[[], Any] | None, error: Exception) -> bool:
    """Whether the function itself takes the arguments for which its derivative fails."""
    if again is None or isinstance(error, np.linalg.LinAlgError):
        return False
    try:
        again()
    except Exception:  # in whatever way it fails, the error is the caller's, and is raised
        return False
    return True


def _is_taken(frame: FrameType, origin: tuple[str, str, int]) -> bool:
    """Whether the operation that a composition stands for takes what the composition was given."""
    rule = _composed(origin[0], origin[1])
    known = frame.f_locals
    if rule is None or rule.composition is None or not all(one in known for one in rule.parameters[:1]):
        return False
    code = rule.composition.__code__
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    given = [known[one] for one in names[: code.co_argcount] if one in known]
    keywords = {one: known[one] for one in names[code.co_argcount :] if one in known}
    try:
        rule.op(*given, **keywords)
    except FAILURES:
        return False
    return True


def _composed(file: str, function: str) -> Rule | None:
    """The rule that a composition of this name is."""
    found = [rule for rule in rules() if rule.composition is not None and rule.composition.__name__ == function]
    return next((one for one in found if one.composition and one.composition.__code__.co_filename == file), None)
