"""From a function in normal form and the rules to a program of two halves.

It may import core, frontend and analysis. A tree and its facts enter; a Program leaves.
"""
