"""What is asked of a text beside its mode: a leading axis for all directions, and what it needs to be known."""

from __future__ import annotations

from dataclasses import dataclass

from srcgrad.facts import Kind


@dataclass(frozen=True)
class Leading:
    """Whether tangents, or adjoints, have a leading axis: one entry for each direction.

    `remark` is a sentence for the docstring, `output` what the output is, where that is known from running the text.
    """

    axis: bool = False
    remark: str = ""
    output: Kind | None = None


ALONE = Leading()
