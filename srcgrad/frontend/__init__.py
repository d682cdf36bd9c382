"""From a function of the user to a resolved normal form, or a refusal with its place.

It may import core and the rules. Source enters; a tree of one operation per statement leaves.
"""
