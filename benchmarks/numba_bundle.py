"""Bundle adjustment: the blocks of the Jacobian of all observations, as written for Numba."""

from __future__ import annotations

import math
from typing import Any  # compiled functions take numbers and arrays

import numpy as np
from numba import njit, prange


@njit(error_model="numpy")  # type: ignore[untyped-decorator]
def _observation(cam: Any, point: Any, w: float, feat: Any, y: Any, camj: Any, pointj: Any, wj: Any) -> None:
    """Both rows of the blocks of one observation."""
    x = point[0] - cam[3]
    yy = point[1] - cam[4]
    z = point[2] - cam[5]
    r0 = cam[0]
    r1 = cam[1]
    r2 = cam[2]
    sq = r0 * r0 + r1 * r1 + r2 * r2
    theta = 1.0
    c = 1.0
    s = 0.0
    a0 = 0.0
    a1 = 0.0
    a2 = 0.0
    dot = 0.0
    if sq != 0.0:
        theta = math.sqrt(sq)
        c = math.cos(theta)
        s = math.sin(theta)
        a0 = r0 / theta
        a1 = r1 / theta
        a2 = r2 / theta
        dot = a0 * x + a1 * yy + a2 * z
        al = dot * (1 - c)
        k0 = a1 * z - a2 * yy
        k1 = a2 * x - a0 * z
        k2 = a0 * yy - a1 * x
        px = x * c + k0 * s + a0 * al
        py = yy * c + k1 * s + a1 * al
        pz = z * c + k2 * s + a2 * al
    else:
        al = 0.0
        k0 = 0.0
        k1 = 0.0
        k2 = 0.0
        px = x + r1 * z - r2 * yy
        py = yy + r2 * x - r0 * z
        pz = z + r0 * yy - r1 * x
    iz = 1.0 / pz
    u = px * iz
    v = py * iz
    rr = u * u + v * v
    rad = 1.0 + cam[9] * rr + cam[10] * rr * rr
    f0 = cam[6]
    e0 = u * rad * f0 + cam[7] - feat[0]
    e1 = v * rad * f0 + cam[8] - feat[1]
    y[0] = w * e0
    y[1] = w * e1
    for k in range(2):
        b0 = w if k == 0 else 0.0
        b1 = w if k == 1 else 0.0
        wj[k] = e0 if k == 0 else e1
        camj[k, 7] = b0
        camj[k, 8] = b1
        camj[k, 6] = (b0 * u + b1 * v) * rad
        g = f0 * (b0 * u + b1 * v)
        camj[k, 9] = g * rr
        camj[k, 10] = g * rr * rr
        rb = g * (cam[9] + 2 * cam[10] * rr)
        ub = b0 * f0 * rad + 2 * u * rb
        vb = b1 * f0 * rad + 2 * v * rb
        pxb = ub * iz
        pyb = vb * iz
        pzb = -(ub * u + vb * v) * iz
        if sq != 0.0:
            alb = pxb * a0 + pyb * a1 + pzb * a2
            dotb = alb * (1 - c)
            k0b = pxb * s
            k1b = pyb * s
            k2b = pzb * s
            cb = pxb * x + pyb * yy + pzb * z - alb * dot
            sb = pxb * k0 + pyb * k1 + pzb * k2
            a0b = pxb * al + dotb * x + k2b * yy - k1b * z
            a1b = pyb * al + dotb * yy + k0b * z - k2b * x
            a2b = pzb * al + dotb * z + k1b * x - k0b * yy
            xb = pxb * c + dotb * a0 + k1b * a2 - k2b * a1
            yb = pyb * c + dotb * a1 + k2b * a0 - k0b * a2
            zb = pzb * c + dotb * a2 + k0b * a1 - k1b * a0
            thb = sb * c - cb * s - (a0b * a0 + a1b * a1 + a2b * a2) / theta
            camj[k, 0] = a0b / theta + thb * a0
            camj[k, 1] = a1b / theta + thb * a1
            camj[k, 2] = a2b / theta + thb * a2
        else:
            xb = pxb + r2 * pyb - r1 * pzb
            yb = pyb - r2 * pxb + r0 * pzb
            zb = pzb + r1 * pxb - r0 * pyb
            camj[k, 0] = yy * pzb - z * pyb
            camj[k, 1] = z * pxb - x * pzb
            camj[k, 2] = x * pyb - yy * pxb
        pointj[k, 0] = xb
        pointj[k, 1] = yb
        pointj[k, 2] = zb
        camj[k, 3] = -xb
        camj[k, 4] = -yb
        camj[k, 5] = -zb


@njit(parallel=True, error_model="numpy")  # type: ignore[untyped-decorator]
def residuals(cam: Any, point: Any, w: Any, feat: Any) -> Any:
    """One forward half for both rows of an observation."""
    n = len(cam)
    y = np.empty((n, 2))
    cj = np.empty((n, 2, 11))
    pointj = np.empty((n, 2, 3))
    wj = np.empty((n, 2))
    for i in prange(n):
        _observation(cam[i], point[i], w[i], feat[i], y[i], cj[i], pointj[i], wj[i])
    return y, (cj, pointj, wj)
