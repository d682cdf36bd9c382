"""`srcgrad explore`, from Python: `srcgrad.explore.serve()`."""

from srcgrad.interface.explorer import serve

__all__ = ["serve"]
