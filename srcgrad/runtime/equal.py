"""What loops over elements need of the lengths of axes: that they are equal, and that there is something to reduce."""

from __future__ import annotations


def check_lengths(*lengths: int) -> None:
    """Raise ValueError (E5026) where lengths differ, over which one loop runs.

    >>> check_lengths(3, 3)
    >>> check_lengths(3, 1)
    Traceback (most recent call last):
    ...
    ValueError: E5026 loops need axes of equal lengths; call the derivative itself, which has a text for others
    """
    if any(one != lengths[0] for one in lengths):
        raise ValueError(
            "E5026 loops need axes of equal lengths; call the derivative itself, which has a text for others"
        )


def check_filled(*lengths: int) -> None:
    """Raise ValueError (E5026) where a length is 0 of an axis of which the largest element is wanted.

    >>> check_filled(3, 2)
    """
    if 0 in lengths:
        raise ValueError(
            "E5026 loops need axes that are not empty; call the derivative itself, which has a text for them"
        )
