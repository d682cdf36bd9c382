"""Hand tracking (ADBench's HAND): distances of points to the skin of a posed hand, 26 parameters of the pose."""

import numpy as np


def rotations(angles):
    """Euler angles (b, 3), about the axes x, z and y, as matrices (b, 3, 3)."""
    cx, sx = np.cos(angles[:, 0]), np.sin(angles[:, 0])
    cz, sz = np.cos(angles[:, 1]), np.sin(angles[:, 1])
    cy, sy = np.cos(angles[:, 2]), np.sin(angles[:, 2])
    first = np.stack((cz * cy, cz * sy * sx - sz * cx, cz * sy * cx + sz * sx), axis=1)
    second = np.stack((sz * cy, sz * sy * sx + cz * cx, sz * sy * cx - cz * sx), axis=1)
    third = np.stack((-sy, cy * sx, cy * cx), axis=1)
    return np.stack((first, second, third), axis=1)


def about_axis(v):
    """The rotation about an axis by its length."""
    angle = np.sqrt(np.sum(v * v))
    if angle < 0.0001:
        return np.eye(3)
    return rotation(v / angle, angle)


def rotation(k, angle):
    """The rotation about an axis of length one (Rodrigues' formula)."""
    x, y, z = k[0], k[1], k[2]
    s, c = np.sin(angle), np.cos(angle)
    t = 1.0 - c
    first = np.stack((x * x * t + c, x * y * t - z * s, x * z * t + y * s))
    second = np.stack((x * y * t + z * s, y * y * t + c, y * z * t - x * s))
    third = np.stack((x * z * t - y * s, y * z * t + x * s, z * z * t + c))
    return np.stack((first, second, third))


def tracking(theta, places, relative, inverse, skin, weights, points, nearest, parents):
    """`places` puts `theta`, a zero and a one into rows of three; `relative` (b, 4, 4) and `inverse` pose the bones."""
    pose = np.reshape(np.concatenate((theta, np.array([0.0, 1.0])))[places], (-1, 3))
    turns = rotations(pose[3:])
    b = relative.shape[0]
    local = np.concatenate((np.matmul(relative[:, :, :3], turns), relative[:, :, 3:]), axis=2)
    bones = []
    for i in range(b):
        bones.append(local[i] if parents[i] == -1 else np.matmul(bones[parents[i]], local[i]))
    placed = np.matmul(np.stack(bones), inverse)[:, :3, :]
    moved = np.matmul(placed, np.transpose(skin))
    blended = np.transpose(np.sum(moved * np.transpose(weights)[:, None, :], axis=0))
    turned = np.matmul(blended, np.transpose(about_axis(pose[0]) * pose[1])) + pose[2]
    return np.reshape(points - turned[nearest], (-1,))


def rotations_dot(angles, angles_dot):
    """Tangents (m, b, 3, 3) of `rotations` for tangents (m, b, 3) of the angles."""
    cx, sx = np.cos(angles[:, 0]), np.sin(angles[:, 0])
    cz, sz = np.cos(angles[:, 1]), np.sin(angles[:, 1])
    cy, sy = np.cos(angles[:, 2]), np.sin(angles[:, 2])
    first = np.stack((cz * cy, cz * sy * sx - sz * cx, cz * sy * cx + sz * sx), axis=1)
    second = np.stack((sz * cy, sz * sy * sx + cz * cx, sz * sy * cx - cz * sx), axis=1)
    third = np.stack((-sy, cy * sx, cy * cx), axis=1)
    turns = np.stack((first, second, third), axis=1)
    by_x = np.stack((np.zeros_like(third), turns[:, :, 2], -turns[:, :, 1]), axis=2)
    by_z = np.stack((-second, first, np.zeros_like(third)), axis=1)
    last = np.stack((-cy, -sy * sx, -sy * cx), axis=1)
    by_y = np.stack((cz[:, None] * third, sz[:, None] * third, last), axis=1)
    dots = angles_dot[:, :, :, None, None]
    return turns, dots[:, :, 0] * by_x + dots[:, :, 1] * by_z + dots[:, :, 2] * by_y


def about_axis_dot(v, v_dot):
    """Tangents (m, 3, 3) of `about_axis`, from K v = k x v: R = I + s K + (1 - c) K K."""
    angle = np.sqrt(np.sum(v * v))
    if angle < 0.0001:
        return np.eye(3), np.zeros((len(v_dot), 3, 3))
    k = v / angle
    angle_dot = v_dot @ k
    k_dot = (v_dot - angle_dot[:, None] * k) / angle
    s, c = np.sin(angle), np.cos(angle)
    cross = np.cross(np.eye(3), k)
    cross_dot = np.cross(np.eye(3), k_dot[:, None, :])
    turn = np.eye(3) + s * cross + (1.0 - c) * (cross @ cross)
    by_angle = c * cross + s * (cross @ cross)
    by_axis = s * cross_dot + (1.0 - c) * (cross_dot @ cross + cross @ cross_dot)
    return turn, angle_dot[:, None, None] * by_angle + by_axis


def tracking_hand(theta, places, relative, inverse, skin, weights, points, nearest, parents):
    """Value and Jacobian (3 points, 26): all tangents at once, in a first axis, and only the vertices asked for."""
    m, b = len(theta), len(relative)
    pose = np.concatenate((theta, np.array([0.0, 1.0])))[places].reshape(-1, 3)
    pose_dot = np.concatenate((np.eye(m), np.zeros((m, 2))), axis=1)[:, places].reshape(m, -1, 3)
    turns, turns_dot = rotations_dot(pose[3:], pose_dot[:, 3:])
    local = np.concatenate((relative[:, :, :3] @ turns, relative[:, :, 3:]), axis=2)
    local_dot = np.zeros((m, b, 4, 4))
    local_dot[..., :3] = relative[:, :, :3] @ turns_dot
    bones = np.empty((b, 4, 4))
    bones_dot = np.empty((m, b, 4, 4))
    for i, parent in enumerate(parents):
        if parent == -1:
            bones[i], bones_dot[:, i] = local[i], local_dot[:, i]
        else:
            bones[i] = bones[parent] @ local[i]
            bones_dot[:, i] = bones_dot[:, parent] @ local[i] + bones[parent] @ local_dot[:, i]
    chosen = (weights[nearest][:, :, None] * skin[nearest][:, None, :]).reshape(len(nearest), -1).T
    placed = (bones @ inverse)[:, :3].transpose(1, 0, 2).reshape(3, -1)
    placed_dot = (bones_dot @ inverse)[:, :, :3].transpose(0, 2, 1, 3).reshape(m, 3, -1)
    blended = placed @ chosen
    blended_dot = placed_dot @ chosen
    turn, turn_dot = about_axis_dot(pose[0], pose_dot[:, 0])
    scaled = turn * pose[1]
    scaled_dot = turn_dot * pose[1] + turn * pose_dot[:, None, 1]
    turned = (scaled @ blended).T + pose[2]
    turned_dot = (scaled @ blended_dot + scaled_dot @ blended).transpose(2, 1, 0) + pose_dot[:, 2].T
    return (points - turned).reshape(-1), -turned_dot.reshape(-1, m)


def arguments(vertices, count):
    """A wrist and five fingers: 22 bones, of which each finger bends at three joints."""
    rng = np.random.default_rng(0)
    parents = [-1, 0] + [0 if k == 0 else 1 + 4 * f + k for f in range(5) for k in range(4)]
    b = len(parents)
    relative = np.tile(np.eye(4), (b, 1, 1))
    relative[:, :3, 3] = 0.2 * rng.standard_normal((b, 3))
    inverse = np.tile(np.eye(4), (b, 1, 1))
    inverse[:, :3, 3] = 0.2 * rng.standard_normal((b, 3))
    skin = np.ones((vertices, 4))
    skin[:, :3] = rng.standard_normal((vertices, 3))
    weights = rng.random((vertices, b)) * (rng.random((vertices, b)) < 0.2)
    weights /= np.sum(weights, axis=1, keepdims=True) + 0.01
    places = np.full((b + 3, 3), 26)
    places[0], places[1], places[2] = [0, 1, 2], 27, [3, 4, 5]
    free = iter(range(6, 26))
    for finger in range(5):
        for joint in range(3):
            places[5 + 4 * finger + joint, 0] = next(free)
            if joint == 0:
                places[5 + 4 * finger, 1] = next(free)
    theta = 0.3 * rng.standard_normal(26)
    return (
        theta,
        places.ravel(),
        relative,
        inverse,
        skin,
        weights,
        rng.standard_normal((count, 3)),
        rng.integers(0, vertices, count),
        parents,
    )
