"""Arrays that live on a device: a namespace of the array API, NumPy's functions, derivatives.

It may import kernels, devices and launches. NumPy arrays enter and leave.
"""
