"""Derivatives on OpenCL devices: a GPU, or this CPU.

`srcgrad.grad(f, target="opencl")` runs straight-line elementwise work, with the sums that end it, as one kernel each.
"""

from srcgrad.opencl.device import choose, found
from srcgrad.opencl.launch import launch
from srcgrad.opencl.report import report

__all__ = ["choose", "found", "launch", "report"]
