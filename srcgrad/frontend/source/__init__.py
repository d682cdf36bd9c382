"""The source of functions: modules known as text, decorators, functions with rules."""
