"""Rules of NumPy's operations."""
