"""Bundle adjustment (ADBench's BA): reprojection residuals of all observations, and the blocks of their Jacobian."""

import math

import numpy as np


def residuals(cameras, points, weights, features):
    """Cameras (p, 11): rotation 3, centre 3, focal length 1, principal point 2, radial 2; points (p, 3)."""
    r = cameras[:, 0:3]
    moved = points - cameras[:, 3:6]
    angle = np.sqrt(np.sum(r * r, axis=1))
    c = np.cos(angle)[:, None]
    s = np.sin(angle)[:, None]
    k = r / angle[:, None]
    crossed = np.cross(k, moved)
    along = np.sum(k * moved, axis=1)[:, None]
    turned = moved * c + crossed * s + k * (along * (1.0 - c))
    p = turned[:, 0:2] / turned[:, 2:3]
    r2 = np.sum(p * p, axis=1)[:, None]
    radial = 1.0 + cameras[:, 9:10] * r2 + cameras[:, 10:11] * r2 * r2
    return weights[:, None] * (p * radial * cameras[:, 6:7] + cameras[:, 7:9] - features)


def residuals_hand(cameras, points, weights, features):
    """Value and pullback, for one seed per residual of an observation."""
    r = cameras[:, 0:3]
    moved = points - cameras[:, 3:6]
    angle = np.sqrt(np.sum(r * r, axis=1))
    c = np.cos(angle)[:, None]
    s = np.sin(angle)[:, None]
    k = r / angle[:, None]
    crossed = np.cross(k, moved)
    along = np.sum(k * moved, axis=1)[:, None]
    rest = along * (1.0 - c)
    turned = moved * c + crossed * s + k * rest
    p = turned[:, 0:2] / turned[:, 2:3]
    r2 = np.sum(p * p, axis=1)[:, None]
    radial = 1.0 + cameras[:, 9:10] * r2 + cameras[:, 10:11] * r2 * r2
    q = p * radial
    error = q * cameras[:, 6:7] + cameras[:, 7:9] - features

    def back(y_bar):
        cameras_bar = np.empty_like(cameras)
        weights_bar = np.sum(y_bar * error, axis=1)
        error_bar = y_bar * weights[:, None]
        q_bar = error_bar * cameras[:, 6:7]
        cameras_bar[:, 6] = np.sum(error_bar * q, axis=1)
        cameras_bar[:, 7:9] = error_bar
        radial_bar = np.sum(q_bar * p, axis=1)[:, None]
        cameras_bar[:, 9:10] = radial_bar * r2
        cameras_bar[:, 10:11] = radial_bar * r2 * r2
        r2_bar = radial_bar * (cameras[:, 9:10] + 2.0 * cameras[:, 10:11] * r2)
        p_bar = q_bar * radial + 2.0 * r2_bar * p
        turned_bar = np.empty_like(turned)
        turned_bar[:, 0:2] = p_bar / turned[:, 2:3]
        turned_bar[:, 2] = -np.sum(turned_bar[:, 0:2] * p, axis=1)
        rest_bar = np.sum(turned_bar * k, axis=1)[:, None]
        along_bar = rest_bar * (1.0 - c)
        crossed_bar = turned_bar * s
        c_bar = np.sum(turned_bar * moved, axis=1) - rest_bar[:, 0] * along[:, 0]
        s_bar = np.sum(turned_bar * crossed, axis=1)
        moved_bar = turned_bar * c + along_bar * k + np.cross(crossed_bar, k)
        k_bar = turned_bar * rest + along_bar * moved + np.cross(moved, crossed_bar)
        r_bar = k_bar / angle[:, None]
        angle_bar = s_bar * c[:, 0] - c_bar * s[:, 0] - np.sum(r_bar * k, axis=1)
        cameras_bar[:, 0:3] = r_bar + angle_bar[:, None] * k
        cameras_bar[:, 3:6] = -moved_bar
        return cameras_bar, moved_bar, weights_bar

    return error * weights[:, None], back


def residual(cam, point, w, feat):
    """The two residuals of an observation; cam = rotation 3, centre 3, focal 1, principal point 2, radial 2."""
    x, y, z = point[0] - cam[3], point[1] - cam[4], point[2] - cam[5]
    r0, r1, r2 = cam[0], cam[1], cam[2]
    sq = r0 * r0 + r1 * r1 + r2 * r2
    if sq != 0.0:
        theta = math.sqrt(sq)
        c, s = math.cos(theta), math.sin(theta)
        a0, a1, a2 = r0 / theta, r1 / theta, r2 / theta
        along = (a0 * x + a1 * y + a2 * z) * (1.0 - c)
        px = x * c + (a1 * z - a2 * y) * s + a0 * along
        py = y * c + (a2 * x - a0 * z) * s + a1 * along
        pz = z * c + (a0 * y - a1 * x) * s + a2 * along
    else:
        px = x + r1 * z - r2 * y
        py = y + r2 * x - r0 * z
        pz = z + r0 * y - r1 * x
    u, v = px / pz, py / pz
    rr = u * u + v * v
    radial = 1.0 + cam[9] * rr + cam[10] * rr * rr
    return w * (u * radial * cam[6] + cam[7] - feat[0]), w * (v * radial * cam[6] + cam[8] - feat[1])


def arguments(n):
    """Cameras that look along the third axis at points before them."""
    draw = np.random.default_rng(0).standard_normal
    camera = np.array([0.1, -0.2, 0.15, 0.0, 0.0, -6.0, 500.0, 320.0, 240.0, -0.02, 0.001])
    cameras = camera * (1.0 + 0.05 * draw((n, 11)))
    return cameras, draw((n, 3)), 1.0 + 0.1 * draw(n), 300.0 + 50.0 * draw((n, 2))
