"""What a derivative promises besides right numbers; each function lists where a promise is broken."""

from __future__ import annotations

from typing import Any  # arguments are arbitrary nested Python values

import numpy as np

from srcgrad.differences import is_float, parts


def snapshot(tree: Any) -> list[tuple[Any, ...]]:
    """All that can be seen of a nested value, to the last bit, for comparison with a later snapshot."""
    return [(label, *_seen(part)) for label, part in parts(tree)]


def _seen(part: Any) -> tuple[Any, ...]:
    if isinstance(part, np.ndarray):
        return type(part), part.dtype.str, part.shape, part.strides, part.tobytes()
    if isinstance(part, np.generic):
        return type(part), part.tobytes()
    return type(part), repr(part) if isinstance(part, int | float | complex | str) else id(part)


def not_mirrored(tree: Any, mirror: Any, name: str) -> list[str]:
    """Where `mirror` has not the structure, class, shape and dtype of the floating parts of `tree`.

    `name` is what the tree is called in the list. A Python float and a NumPy float64 may stand for each
    other: one is a subclass of the other.

    >>> not_mirrored([1.0, np.zeros(3)], [0.5, np.zeros((1, 3))], "w")
    ['w[1]: ndarray float64 (1, 3), not ndarray float64 (3,)']
    """
    found = dict(parts(mirror, name))
    broken = []
    for label, part in parts(tree, name):
        if is_float(part) and label not in found:
            broken.append(f"{label}: missing")
        elif is_float(part) and _kind(found[label]) != _kind(part):
            broken.append(f"{label}: {_kind(found[label])}, not {_kind(part)}")
    return broken


def _kind(part: Any) -> str:
    if isinstance(part, np.ndarray):
        return f"{type(part).__name__} {part.dtype} {part.shape}"
    if isinstance(part, float | complex):
        return "float" if isinstance(part, float) else "complex"
    return type(part).__name__


def same(expected: Any, actual: Any) -> list[str]:
    """Where the primal value that a derivative returns is not the one that the function returns.

    The derivative runs the same operations, but may group them anew; hence a few roundings are allowed.
    """
    wanted, found = dict(parts(expected)), dict(parts(actual))
    if list(wanted) != list(found):
        return [f"structure {list(found)}, not {list(wanted)}"]
    return [f"value {label} differs" for label, part in wanted.items() if not _close(part, found[label])]


def _close(one: Any, other: Any) -> bool:
    if not is_float(one):
        return bool(np.array_equal(one, other))
    if np.shape(one) != np.shape(other):
        return False
    tolerance = 64.0 * float(np.finfo(np.asarray(one).dtype).eps)
    return bool(np.allclose(other, one, rtol=tolerance, atol=tolerance, equal_nan=True))


def shared(adjoints: dict[str, Any], others: Any) -> list[str]:
    """Which arrays of the gradients, given by name, are read-only or share memory with any other."""
    own = [(label, array) for name, tree in adjoints.items() for label, array in _arrays(tree, name)]
    rest = [array for _, array in _arrays(others, "")]
    broken = [f"{label}: read-only" for label, array in own if not array.flags.writeable]
    for position, (label, array) in enumerate(own):
        earlier = [other for _, other in own[:position]]
        if any(_overlap(array, other) for other in earlier + rest):
            broken.append(f"{label}: shares memory")
    return broken


def _arrays(tree: Any, name: str) -> list[tuple[str, Any]]:
    return [(label, part) for label, part in parts(tree, name) if isinstance(part, np.ndarray)]


def _overlap(one: Any, other: Any) -> bool:
    return bool(np.may_share_memory(one, other) and np.shares_memory(one, other))
