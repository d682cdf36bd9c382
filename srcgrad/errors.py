"""What srcgrad raises, and of what it warns."""

from srcgrad.core.errors import CODES, ConstantOutputWarning, DifferentiationError

__all__ = ["CODES", "ConstantOutputWarning", "DifferentiationError"]
