"""A derivative to look at: explained, side by side, traced, as a page."""
