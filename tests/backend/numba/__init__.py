"""Tests of texts that Numba compiles."""
