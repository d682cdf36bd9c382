"""The version, by itself: what writes it into a text need not import the names for users."""

__version__ = "0.1.0"
