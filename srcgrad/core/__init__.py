"""What all phases share: trees, printer, names, errors, source text, facts, rules.

It may import the runtime alone. Nothing of a phase is known here.
"""
