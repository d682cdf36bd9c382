"""How a function goes to another process: by its name, or as code where that process cannot import it."""

from __future__ import annotations

import sys
from typing import Any  # functions and picklers are arbitrary objects


def is_code(one: Any) -> bool:
    """Whether another process cannot import a function or class by its name, so that cloudpickle sends its code.

    >>> is_code(is_code), is_code(lambda: 1.0)
    (False, True)
    """
    module = getattr(one, "__module__", None) or "__main__"
    if module == "__main__" or module in _by_value():
        return True
    found: Any = sys.modules.get(module)
    for part in one.__qualname__.split("."):
        found = getattr(found, part, None)
    return getattr(found, "__srcgrad_primal__", found) is not one


def _by_value() -> set[str]:
    """The modules that the user has told cloudpickle to send as code."""
    known = sys.modules.get("cloudpickle")
    return set(known.list_registry_pickle_by_value()) if known is not None else set()


def goes_as_code(function: Any) -> bool:
    """Whether what stands under the name of a function is being pickled by cloudpickle, and `is_code`.

    Asked within `__reduce__`: Python's pickler would look such a function up by its name, and find what decoration
    made of it. Picklers do not say who they are, but it is the method `dump` of one that runs `__reduce__`.
    """
    pickler = sys._getframe(2).f_locals.get("self")
    bases = type(pickler).__mro__
    return any(base.__module__.endswith("cloudpickle.cloudpickle") for base in bases) and is_code(function)
