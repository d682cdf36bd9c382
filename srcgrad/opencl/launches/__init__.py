"""Kernels run on arguments, also without srcgrad.

It may import kernels and devices. A kernel and its arguments enter; arrays leave.
"""
