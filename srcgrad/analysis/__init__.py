"""Facts of a function in normal form: activity, shapes, aliases, views, mutation; nothing here changes a tree.

It may import core and frontend. A tree enters; facts leave.
"""
