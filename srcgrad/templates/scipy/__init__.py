"""Rules of SciPy's operations, by package, loaded when a function names one."""
