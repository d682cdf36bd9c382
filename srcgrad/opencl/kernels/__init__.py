"""From statements of arrays to the C of kernels.

It may import core, backend and devices. Statements enter; the text of a kernel leaves.
"""
