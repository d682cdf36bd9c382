"""Names of Python as names of C."""

from __future__ import annotations

import re
from functools import lru_cache

from srcgrad.opencl.functions import FUNCTIONS


@lru_cache(maxsize=4096)
def identifier(name: str) -> str:
    """A Python name as one of C: no keyword, no function, no name of the loops around; letters of ASCII only."""
    plain = "".join(c if c.isascii() else f"_u{ord(c):x}_" for c in name)
    bare = plain.rstrip("_")  # what differs in its last underscores only must not become one name
    taken = bare in _TAKEN or bare in FUNCTIONS or plain.startswith(("__", "sg_", "far_")) or _OWN.fullmatch(bare)
    return f"{plain}_" if taken else plain


_RESERVED = """auto bool break case char const constant continue default do double else enum extern float for global
goto half if inline int kernel local long private register restrict return short signed sizeof size_t static struct
switch typedef union unsigned void volatile while image2d_t event_t sampler_t uchar ulong REAL OWN SUM_TYPE NAN INFINITY
main fma fmod rint round at i l b r g groups share start from to first last begin end whole me gap j0 j1 j2 q1 q2
rows row d1 d2 SUM MEAN PROD MAX MIN SUM_TO SPREAD FILL AXIS COUNT CUMSUM CUMPROD STORE LANE"""
_TAKEN = frozenset(_RESERVED.split())
_OWN = re.compile(
    r".*_(in|out|row|acc|sum|total|block|tree|step|cols|tmp|run|start|before|by|factors|any|left|s\d|v\d+)|part\d+"
)  # of the loops around
