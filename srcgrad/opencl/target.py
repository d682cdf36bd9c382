"""The target opencl: groups of array statements, and the sums that end them, run as kernels."""

from __future__ import annotations

from collections.abc import Collection

from srcgrad.backend.text.module import OutputParts
from srcgrad.core.target import Target
from srcgrad.opencl.kernels.fuse import fuse


def _embed(written: OutputParts, kernels: set[str]) -> tuple[Collection[str], str]:
    """The code that builds and launches kernels, which is imported for standalone texts alone."""
    from srcgrad.opencl.launches.shipped import with_kernels

    return with_kernels(written, kernels)


OPENCL = Target(
    "opencl",
    passes=(fuse,),
    embed=_embed,
    no_items="each item has a kernel of its own",
    excludes=("inline",),
    as_written=False,
    kernels=True,
    complex=False,
)
