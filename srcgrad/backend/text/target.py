"""The target numpy: the text as it is, and for all directions at once one with a leading axis."""

from srcgrad.backend.batched.leading_axis import leading_axis
from srcgrad.core.target import Target

NUMPY = Target("numpy", batched=(leading_axis,))
