"""Tests of modules of NumPy text."""
