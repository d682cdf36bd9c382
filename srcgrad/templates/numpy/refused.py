"""Operations through which no derivative is taken, each with its reason; a call on an active value raises E5001.

Names are looked up when this file is read, so that a version of NumPy that lacks one does no harm.
"""

import numpy as np

from srcgrad.templates.declarations import declare

SETS = """unique unique_all unique_counts unique_inverse unique_values union1d intersect1d setdiff1d setxor1d in1d"""
FILES = """load loadtxt genfromtxt fromregex fromfile save savetxt savez savez_compressed memmap"""
BYTES = """frombuffer fromstring fromiter from_dlpack packbits unpackbits"""
CLASSES = """ndarray recarray record matrix asmatrix bmat poly1d chararray character flexible generic void bytes_ str_
object_ number inexact floating complexfloating integer signedinteger unsignedinteger ufunc broadcast flatiter
ndenumerate ndindex nditer nested_iters busdaycalendar errstate printoptions test"""
DATES = """datetime64 timedelta64 datetime_as_string datetime_data busday_count busday_offset is_busday"""
STATEMENTS = """copyto fill_diagonal put put_along_axis putmask"""
CALLBACKS = """apply_over_axes fromfunction"""
IN_PLACE = """fill partition put sort"""
MEMORY = """byteswap resize setfield setflags"""
METHODS = """dump dumps getfield to_device tobytes tofile tolist tostring view"""

REASONS = (
    (SETS, "how many elements the result has depends on values; sort the array, or index it with constants"),
    (FILES, "it reads or writes a file"),
    (BYTES, "it reads bits as numbers, or numbers as bits"),
    (CLASSES, "it makes an object, whose arithmetic is its own; use plain arrays and loops"),
    (DATES, "dates are counted, and cannot be moved by a small amount"),
    (CALLBACKS, "it calls a function that it is given; write the loop, or index with a mask"),
    ("piecewise", "it calls functions that it is given; write the conditions, and the functions, as lists in the call"),
    ("polydiv", "how long the remainder is depends on values; divide by np.convolve and a linear system"),
    ("sort_complex", "it makes complex numbers; use np.sort"),
    ("histogram2d histogramdd histogram_bin_edges", "counts jump where an element crosses an edge"),
    ("einsum_path", "it plans a contraction and computes none"),
    ("nextafter spacing", "it is a property of floating-point numbers, not a function of real ones"),
)


WRITES = (
    (STATEMENTS, "it writes into its argument and gives nothing: call it in a statement of its own"),
    ("place", "it writes as many of its values as a mask has places; write `a[mask] = values`, or use np.where"),
)
OF_MEMORY = "what it gives or changes is memory, not numbers; use the functions of NumPy"

for names, reason in REASONS:
    declare(np, "np", names, reason)
for names, reason in WRITES:
    declare(np, "np", names, reason, writes=True)
declare(np.linalg, "np.linalg", "test", "it runs the tests of NumPy")
declare(np.fft, "np.fft", "test", "it runs the tests of NumPy")
declare(np.ndarray, "np.ndarray", METHODS, OF_MEMORY)
declare(np.ndarray, "np.ndarray", MEMORY, OF_MEMORY, writes=True)
declare(np.ndarray, "np.ndarray", IN_PLACE, "it writes into the array: call it in a statement of its own", writes=True)
declare(np.emath, "np.emath", "sqrt log log2 log10 logn power arccos arcsin arctanh", "it may give complex numbers")
declare(np.lib.stride_tricks, "np.lib.stride_tricks", "as_strided", "it shows memory; use sliding_window_view")
