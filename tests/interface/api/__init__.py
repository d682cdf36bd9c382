"""Tests of the functions of the package."""
