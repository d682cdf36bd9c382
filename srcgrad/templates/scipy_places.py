"""Values of images between pixels: `map_coordinates` of order 1, in the image and in the places; on request."""

import numpy as np
from scipy import ndimage

from srcgrad.core.rules import adjoint
from srcgrad.runtime.choices import require_handled

PLACES = "np.array([[0.3, 1.6, 2.4], [0.7, 2.2, 3.9]]) + 0.05 * y"


@adjoint.composed(
    ndimage.map_coordinates,
    forms=(
        (f"scipy.ndimage.map_coordinates(x, {PLACES}, order=1, mode='nearest')", (3, 4), (2, 3)),
        (f"scipy.ndimage.map_coordinates(x, {PLACES}, order=1, cval=0.5)", (3, 4), (2, 3)),
        ("scipy.ndimage.map_coordinates(x, [2.4 + 0.05 * y], None, 1)", (5,), (2,)),
        ("scipy.ndimage.map_coordinates(x, 0.6 + 0.05 * y, order=1, mode='nearest')", (2, 3, 2), (3, 2, 2)),
    ),
    note="Of order 1, with mode constant or nearest. At a pixel the derivative by the place is that towards the next.",
)
def map_coordinates(input, coordinates, output=None, order=3, mode="constant", cval=0.0, prefilter=True):
    require_handled(order == 1, "scipy.ndimage.map_coordinates of an order other than 1: give order=1")
    require_handled(mode in ("constant", "nearest"), "a mode of map_coordinates other than constant and nearest")
    require_handled(output is None, "scipy.ndimage.map_coordinates with output=")
    rounds = "scipy.ndimage.map_coordinates of integers, which rounds: give it floats"
    require_handled(np.asarray(input).dtype.kind not in "iub", rounds)
    places = np.asarray(coordinates)
    size = np.shape(input)
    values = np.ravel(input)
    beyond = False
    below, parts = [], []
    for k in range(len(size)):
        t = np.clip(places[k], 0.0, size[k] - 1.0)
        whole = np.clip(np.floor(t), 0.0, max(size[k] - 2.0, 0.0))
        below.append(whole.astype(int))
        parts.append(t - whole)
        beyond = beyond | (places[k] < 0.0) | (places[k] > size[k] - 1.0)
    z = 0.0
    for corner in range(2 ** len(size)):
        weight, flat = 1.0, 0
        for k in range(len(size)):
            up = (corner >> k) & 1
            weight = weight * (parts[k] if up else 1.0 - parts[k])
            flat = flat * size[k] + np.minimum(below[k] + up, size[k] - 1)
        z = z + weight * np.take(values, flat)
    if mode == "constant":
        z = np.where(beyond, cval, z)
    return z.astype(np.asarray(input).dtype)
