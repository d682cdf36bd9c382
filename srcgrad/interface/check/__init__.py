"""Checks of derivatives by differences and by each other."""
