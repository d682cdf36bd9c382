"""Rules of your own: `from srcgrad.rules import d` gives the name by which templates speak of derivatives."""

from srcgrad.core.rules import Rule, adjoint, d, nondifferentiable, tangent

__all__ = ["Rule", "adjoint", "d", "nondifferentiable", "tangent"]
