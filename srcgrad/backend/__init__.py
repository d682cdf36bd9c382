"""From a program to text, and to what runs it.

It may import core, frontend, analysis, derive and optimise. A Program enters; Python text, compiled loops or kernels
leave.
"""
