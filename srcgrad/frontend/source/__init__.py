"""The source of functions: shadows, functions with rules and wrappers."""
