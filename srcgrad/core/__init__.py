"""What all phases share: trees, printer, names, errors, source text, facts, rules.

It may import the runtime, and the names of the families of rules. Nothing of a phase is known here.
"""
