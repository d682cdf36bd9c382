"""Passes over a program of two halves that leave its numbers alone.

It may import core, frontend, analysis and derive. A Program enters; the same Program, written better, leaves.
"""
