"""Devices: found, tested, trusted, their memory and their programs.

It may import the lines of kernels. The name of a device enters; a device leaves.
"""
