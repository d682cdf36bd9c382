"""What all phases share: trees, printer, names, errors, source text, facts, rules.

It may import the runtime, and the names of the families of rules. Nothing of a phase is known here.
"""

__version__ = "0.1.0"  # here what writes it into a text need not import the names for users
