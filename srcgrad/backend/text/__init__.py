"""The text of functions and modules."""
