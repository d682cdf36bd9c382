"""Derivatives that Numba compiles: the text that it accepts, the helpers that it calls, what it refuses."""
