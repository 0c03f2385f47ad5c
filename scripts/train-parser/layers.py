"""The layers of a rendered picture, and the software rasteriser that draws them.

A layer is what shares a fabric and a cut: the skin, a garment, a bag.
"""

from typing import NamedTuple

import numba
import numpy as np

# Where a vertex is on the body: along the arm and the leg (0 to 1 to the elbow or knee, to 2 at the hand or ankle; arm -0.5 elsewhere),
# height over the hips and over the neckline, distance to the middle, and how much it faces the front. Lengths in m of a body of 1.7 m.
ALONG_ARM, ALONG_LEG, OVER_HIPS, OVER_NECKLINE, SIDEWARDS, FRONTWARDS = range(6)


class Cut(NamedTuple):
    """Which part of a shell is left: the limits are places on the body as above."""

    hem: float = -9
    top: float = 9
    sleeve: float = 9
    leg: float = 9
    neckline: float = 9
    neckline_depth: float = 0  # how much deeper it is in the middle of the front
    neckline_width: float = 1
    opening: float = 0  # half of the width of the opening at the front
    opening_flare: float = 0
    opening_middle: float = 0
    hem_wave: float = 0


HEM, TOP_EDGE, SLEEVE, LEG, NECKLINE, NECKLINE_DEPTH = range(6)
NECKLINE_WIDTH, OPENING, OPENING_FLARE, OPENING_MIDDLE, HEM_WAVE = range(6, 11)
compiled = numba.njit(cache=True, fastmath=True)


@compiled
def mix(values, k, a, b, c, u, v):
    """The value in a triangle, from those of its corners."""
    return u * values[a, k] + v * values[b, k] + (1 - u - v) * values[c, k]


@compiled
def is_cut_off(cut, arm, leg, height, neck, side, front):
    if arm < 0.3 and height < cut[HEM] + cut[HEM_WAVE] * np.sin(side * 9):
        return True
    if height > cut[TOP_EDGE] or arm > cut[SLEEVE] or leg > cut[LEG]:
        return True
    limit = cut[NECKLINE]
    if front > 0:
        limit -= cut[NECKLINE_DEPTH] * max(0.0, 1 - abs(side) / cut[NECKLINE_WIDTH])
    if neck > limit and arm < 0.8:
        return True
    width = cut[OPENING] + cut[OPENING_FLARE] * max(0.0, 0.45 - height)
    return front > 0 and cut[OPENING] > 0 and arm < 0.3 and abs(side - cut[OPENING_MIDDLE]) < width


@compiled
def rasterise(points, triangles, layers, places, cuts, nearer, depths, found, shares):
    """Fill by pixel `depths` (m), `found` (triangle or -1) and `shares` (of its first two corners); points: x, y in px, depth in m."""
    for triangle in range(len(triangles)):
        a, b, c = triangles[triangle]
        x0, y0, x1, y1, x2, y2 = points[a, 0], points[a, 1], points[b, 0], points[b, 1], points[c, 0], points[c, 1]
        if points[a, 2] < 0.2 or points[b, 2] < 0.2 or points[c, 2] < 0.2:
            continue
        area = (x1 - x0) * (y2 - y0) - (x2 - x0) * (y1 - y0)
        if abs(area) < 1e-9:
            continue
        layer = layers[triangle]
        left, right = max(0, int(np.floor(min(x0, x1, x2)))), min(depths.shape[1] - 1, int(np.ceil(max(x0, x1, x2))))
        top, bottom = max(0, int(np.floor(min(y0, y1, y2)))), min(depths.shape[0] - 1, int(np.ceil(max(y0, y1, y2))))
        for row in range(top, bottom + 1):
            for column in range(left, right + 1):
                x, y = column + 0.5, row + 0.5
                u = ((x1 - x) * (y2 - y) - (x2 - x) * (y1 - y)) / area
                v = ((x2 - x) * (y0 - y) - (x0 - x) * (y2 - y)) / area
                if u < 0 or v < 0 or 1 - u - v < 0:
                    continue
                depth = mix(points, 2, a, b, c, u, v) - nearer[layer]
                if depth >= depths[row, column]:
                    continue
                if cuts[layer, HEM] > -99:
                    arm, leg = mix(places, ALONG_ARM, a, b, c, u, v), mix(places, ALONG_LEG, a, b, c, u, v)
                    height, neck = mix(places, OVER_HIPS, a, b, c, u, v), mix(places, OVER_NECKLINE, a, b, c, u, v)
                    side, front = mix(places, SIDEWARDS, a, b, c, u, v), mix(places, FRONTWARDS, a, b, c, u, v)
                    if is_cut_off(cuts[layer], arm, leg, height, neck, side, front):
                        continue
                depths[row, column] = depth
                found[row, column] = triangle
                shares[row, column, 0] = u
                shares[row, column, 1] = v


@compiled
def shade(
    triangles, layers, labels, found, shares, normals, texture, colours, fabric_of, fabrics, light, ambient, shine, view, image, truth
):
    """Fill `image` (height × width × 3, 0 to 1) and `truth` (labels); `fabric_of` is -1 where a layer has none."""
    for row in range(found.shape[0]):
        for column in range(found.shape[1]):
            triangle = found[row, column]
            if triangle < 0:
                continue
            a, b, c = triangles[triangle]
            u, v = shares[row, column, 0], shares[row, column, 1]
            layer = layers[triangle]
            nx, ny, nz = mix(normals, 0, a, b, c, u, v), mix(normals, 1, a, b, c, u, v), mix(normals, 2, a, b, c, u, v)
            length = (nx * nx + ny * ny + nz * nz) ** 0.5 + 1e-9
            if nx * view[0] + ny * view[1] + nz * view[2] < 0:
                length = -length
            nx, ny, nz = nx / length, ny / length, nz / length
            diffuse = max(0.0, nx * light[0] + ny * light[1] + nz * light[2])
            brightness = ambient * (0.75 + 0.25 * nz) + (1 - ambient) * diffuse * 1.25
            mirrored = max(0.0, (nx * (light[0] + view[0]) + ny * (light[1] + view[1]) + nz * (light[2] + view[2])) * 0.55) ** 12
            fabric = fabric_of[layer]
            x = y = 0
            if fabric >= 0:
                side = fabrics.shape[1]
                x = int(mix(texture, 0, a, b, c, u, v) * side) % (2 * side)
                y = int(mix(texture, 1, a, b, c, u, v) * side) % (2 * side)
                x, y = min(x, 2 * side - 1 - x), min(y, 2 * side - 1 - y)
            for k in range(3):
                value = mix(colours, k, a, b, c, u, v) * brightness
                if fabric >= 0:
                    value *= fabrics[fabric, y, x, k] / 255.0
                image[row, column, k] = min(1.0, value + shine[layer] * mirrored)
            truth[row, column] = labels[triangle]


@compiled
def vertex_normals(vertices, triangles):
    normals = np.zeros_like(vertices)
    for triangle in range(len(triangles)):
        a, b, c = triangles[triangle]
        normal = np.cross(vertices[b] - vertices[a], vertices[c] - vertices[a])
        for corner in (a, b, c):
            normals[corner] += normal
    for k in range(len(normals)):
        normals[k] /= (normals[k] ** 2).sum() ** 0.5 + 1e-12
    return normals


class Scene:
    """The layers of one picture."""

    def __init__(self):
        self.layers, self.fabrics, self.count = [], [], 0

    def add(self, vertices, triangles, label, colours, *, places=None, texture=None, cut=None, fabric=None, shine=0.0, nearer=0.0):
        """`label` and `colours` may be one for all; `nearer` (m) brings the layer before others that it would be behind."""
        count = len(vertices)
        self.layers.append(
            {
                "vertices": vertices,
                "triangles": triangles + self.count,
                "labels": np.broadcast_to(label, len(triangles)).astype(np.uint8),
                "colours": np.broadcast_to(colours, (count, 3)),
                "places": np.zeros((count, 6)) if places is None else places,
                "texture": np.zeros((count, 2)) if texture is None else texture,
                "layers": np.full(len(triangles), len(self.layers), np.int32),
                "cut": [np.array(Cut(hem=-100) if cut is None else cut, float)],
                "fabric": [-1 if fabric is None else len(self.fabrics)],
                "shine": [shine],
                "nearer": [nearer],
            }
        )
        self.fabrics += [] if fabric is None else [fabric]
        self.count += count

    def joined(self):
        return {name: np.concatenate([layer[name] for layer in self.layers]) for name in self.layers[0]}


def take(triangles, *values):
    """Of values by vertex, those of the triangles' corners, and the triangles by their new numbers."""
    used, numbers = np.unique(triangles, return_inverse=True)
    return numbers.reshape(triangles.shape).astype(np.int32), *(value[used] for value in values)


def ellipsoid(centre, radii, turn=None, count=14, power=1.0):
    """Vertices and triangles; the lower the power, the more it is like a box."""
    around, up = np.meshgrid(np.linspace(0, 2 * np.pi, count, endpoint=False), np.linspace(-np.pi / 2, np.pi / 2, count), indexing="ij")

    def raised(values):
        return np.sign(values) * abs(values) ** power

    vertices = np.stack([raised(np.cos(around)) * raised(np.cos(up)), raised(np.sin(around)) * raised(np.cos(up)), raised(np.sin(up))], -1)
    triangles = []
    for i in range(count):
        for j in range(count - 1):
            p, q = i * count + j, (i + 1) % count * count + j
            triangles += [(p, q, q + 1), (p, q + 1, p + 1)]
    return vertices.reshape(-1, 3) * radii @ (np.eye(3) if turn is None else turn).T + centre, np.array(triangles, np.int32)
