"""Random clothed people: bodies of MakeHuman in random poses, and shells around them as clothes.

The person faces -y where the yaw is 0. Lengths are in m.
"""

import functools
import io

import numpy as np
from PIL import Image

from guides import Label
from layers import ALONG_ARM, ALONG_LEG, OVER_HIPS, OVER_NECKLINE, Cut, Scene, ellipsoid, take, vertex_normals
from mesh import SKIN_VERTICES, VERTICES, rotation

BODIES = 70
# Shares of red, green and blue.
SKINS = np.array([(95, 78, 68), (90, 70, 58), (83, 60, 47), (72, 50, 37), (55, 36, 25), (38, 24, 17), (27, 17, 12)]) / 100
DARK_HAIRS = (7, 6, 6), (13, 9, 7), (25, 16, 10), (38, 25, 15)
HAIRS = np.array([*DARK_HAIRS, (68, 52, 32), (85, 72, 50), (50, 48, 46), (45, 20, 10), (60, 30, 30)]) / 100


class Body:
    """A random body in the rest pose, with what does not depend on its pose."""

    def __init__(self, figure, rng):
        mesh, self.figure = figure.mesh, figure
        self.is_female = rng.random() < 0.7
        races = rng.dirichlet([1, 1, 1]) ** 1.5
        races = dict(zip(("caucasian", "asian", "african"), races / races.sum()))
        self.vertices = vertices = mesh.shape(
            races,
            gender=rng.uniform(0, 0.15) if self.is_female else rng.uniform(0.85, 1),
            age=pick(rng, (0.45, 0.6), (0.5, 0.85)),
            muscle=rng.uniform(0.3, 0.7),
            weight=np.clip(rng.normal(0.45, 0.17), 0.1, 0.95),
            height=rng.uniform(0.3, 0.75),
            proportions=rng.uniform(0.4, 0.8),
            cupsize=rng.uniform(0.3, 0.7),
            firmness=0.5,
        )
        self.hip, self.neck = (mesh.vertices_of(vertices, f"joint-{name}").mean(0) for name in ("pelvis", "neck"))
        self.eye = eye = mesh.vertices_of(vertices, "helper-l-eye").mean(0)
        self.size = np.ptp(vertices[:SKIN_VERTICES, 2]) / 1.7
        self.normals = vertex_normals(vertices, np.concatenate([figure.skin, figure.tights, figure.skirt]))
        arm = np.where(figure.arm > 0.5, self.along_limb("shoulder", "elbow", "hand"), -0.5)
        leg = self.along_limb("upper-leg", "knee", "ankle")
        over_hips = (vertices[:, 2] - self.hip[2]) / self.size
        over_neckline = (vertices[:, 2] - self.neck[2] - 0.55 * (vertices[:, 1] - self.neck[1])) / self.size
        self.places = np.stack([arm, leg, over_hips, over_neckline, vertices[:, 0] / self.size, -self.normals[:, 1]], 1)
        self.find_head(eye)

    def along_limb(self, *joints):
        vertices, along = self.vertices, np.zeros(VERTICES)
        for side, sign in (("l", 1), ("r", -1)):
            start, middle, end = (self.figure.mesh.joint(vertices, side, joint) for joint in joints)
            first = (vertices - start) @ (middle - start) / ((middle - start) @ (middle - start))
            second = (vertices - middle) @ (end - middle) / ((end - middle) @ (end - middle))
            place = np.where((first < 1) & (second < 0.02), first, np.maximum(1 + second, 1))
            along = np.where(vertices[:, 0] * sign > 0, place, along)
        return along

    def find_head(self, eye):
        x, y, z = self.vertices.T
        skin = self.vertices[:SKIN_VERTICES]
        beside = np.where((skin[:, 2] > eye[2] - 0.08) & (abs(skin[:, 2] - (eye[2] - 0.01)) < 0.03))[0]
        self.ears = beside[skin[beside, 0].argmax()], beside[skin[beside, 0].argmin()]
        middle = np.where((abs(skin[:, 0]) < 0.01) & (skin[:, 2] > eye[2] - 0.08) & (skin[:, 2] < eye[2] - 0.015))[0]
        self.nose = middle[skin[middle, 1].argmin()]
        ear = self.vertices[self.ears[0]]
        self.scalp = (z - eye[2]) / 0.1 + 0.9 * (y - ear[1]) / 0.1
        self.on_head = (z > eye[2] - 0.12) & (self.figure.head > 0.3) & (abs(x) < ear[0] * 0.93)
        brow = np.clip(1 - abs((z - eye[2] - 0.021) / 0.0065), 0, 1)
        self.brow = np.minimum(1, 1.8 * brow * (abs(abs(x) - eye[0] - 0.002) < 0.023) * (y < eye[1] + 0.01))
        self.beard = (z < eye[2] - 0.045) & (z > eye[2] - 0.14) & (y < ear[1] + 0.01) & self.on_head


class Figure:
    """What all bodies share: parts of the base mesh, and the shares of the limbs in its vertices."""

    def __init__(self, mesh):
        self.mesh = mesh
        self.skin, self.tights, self.skirt = (mesh.triangles(group) for group in ("body", "helper-tights", "helper-skirt"))
        self.eyes = mesh.triangles("helper-l-eye", "helper-r-eye")
        self.arm = mesh.weights_of("upperarm", "lowerarm", "wrist", "finger", "meta")
        self.leg, self.foot = mesh.weights_of("upperleg", "lowerleg", "foot", "toe"), mesh.weights_of("foot", "toe")
        face = ("jaw", "levator", "oris", "eye", "orbicularis", "temporalis", "risorius", "oculi", "special", "tongue")
        self.head = mesh.weights[:, mesh.bones.index("head")] + mesh.weights_of(*face)
        picture = Image.open(io.BytesIO((mesh.data / "textures/mpfb_lips.jpg").read_bytes())).convert("L")
        lips, self.lips = np.asarray(picture, np.float32) / 255, np.zeros(VERTICES, np.float32)
        for face, corners in zip(mesh.faces["body"], mesh.texture_faces["body"]):
            x, y = mesh.texture[corners].T
            rows, columns = ((1 - y) * lips.shape[0]).astype(int), (x * lips.shape[1]).astype(int)
            self.lips[face] = lips[rows.clip(max=lips.shape[0] - 1), columns.clip(max=lips.shape[1] - 1)]
        # The same few bodies in each run.
        self.body = functools.cache(lambda number: Body(self, np.random.default_rng(900 + number)))


def random_pose(rng):
    """Arguments of `BaseMesh.transforms`; directions of the left side are mirrored for the right one."""
    directions = {}
    spread = rng.uniform(0, 0.14)
    for suffix, sign in (("L", 1), ("R", -1)):
        mirror = np.array([sign, 1, 1])
        upper, lower = random_leg(rng, spread)
        directions[f"upperleg.{suffix}"], directions[f"lowerleg.{suffix}"] = upper * mirror, lower * mirror
        upper, lower, hand = random_arm(rng)
        directions[f"upperarm.{suffix}"] = upper * mirror + rng.normal(0, 0.06, 3)
        directions[f"lowerarm.{suffix}"] = lower * mirror + rng.normal(0, 0.08, 3)
        if hand is not None:
            directions[f"hand.{suffix}"] = hand * mirror + rng.normal(0, 0.08, 3)
    x, y, z = np.eye(3)
    turns = {
        "head": [(z, rng.normal(0, 16)), (x, rng.normal(3, 8)), (y, rng.normal(0, 6))],
        "spine03": [(z, rng.normal(0, 6)), (y, rng.normal(0, 4)), (x, rng.normal(0, 4))],
    }
    return directions, turns, rng.uniform(2, 35)


def random_leg(rng, spread):
    kind = rng.random()
    if kind < 0.6:  # standing
        return (0.05 + spread, rng.normal(0, 0.05), -1), (0.02 + spread * 0.6, 0.04, -1)
    if kind < 0.85:  # walking
        step = rng.uniform(-0.5, 0.35)
        return (0.05, step, -1), (0.03, max(0, step) + rng.uniform(0.02, 0.5), -1)
    if kind < 0.95:  # crossed
        return (-0.08, -0.05, -1), (-0.15, 0.08, -1)
    return (0.2, -0.5, -1), (0.1, rng.uniform(0.1, 0.9), -1)


def random_arm(rng):
    """Directions of the upper and lower arm and, where it matters, of the hand."""
    kind = rng.random()
    if kind < 0.45:  # hanging
        return (rng.uniform(0.1, 0.4), rng.normal(0.02, 0.12), -1), (rng.uniform(-0.1, 0.3), rng.uniform(-0.5, 0), -1), None
    if kind < 0.6:  # hand on the hip
        return (0.8, 0.25, -0.85), (-0.62, -0.42, -0.6), (-0.7, -0.5, -0.35)
    if kind < 0.72:  # forwards
        return (0.3, rng.uniform(-0.1, 0.25), -1), (rng.uniform(-0.5, 0.2), -0.9, rng.uniform(-0.5, 0.2)), None
    if kind < 0.82:  # crossed
        return (0.28, -0.2, -1), (-0.86, -0.45, rng.uniform(-0.2, 0.4)), (-0.9, -0.1, 0.1)
    if kind < 0.9:  # at the face
        return (0.45, -0.25, -0.8), (-0.1, -0.5, rng.uniform(0.3, 1)), None
    if kind < 0.94:  # raised
        return (0.9, -0.1, rng.uniform(-0.6, 0.4)), (0.2, -0.25, rng.uniform(-0.5, 1)), None
    return (0.2, 0.3, -1), (-0.4, 0.25, -1), None


class Person:
    """A random person: pose, skin, clothes, shoes, hair and accessories, in this order, as the layers of `scene`."""

    def __init__(self, body, rng, fabrics, garments):
        self.body, self.figure, self.rng, self.scene = body, body.figure, rng, Scene()
        self.fabrics, self.garments_by_label = fabrics, garments
        mesh = self.figure.mesh
        placed = mesh.transforms(body.vertices, *random_pose(rng))
        self.yaw = float(rng.normal(0, 22) if rng.random() < 0.88 else rng.uniform(-180, 180))
        self.turn = rotation((0, 0, 1), self.yaw)
        matrices = np.stack([np.column_stack(placed[bone]) for bone in mesh.bones]).reshape(len(mesh.bones), 12)
        self.moves = (mesh.weights @ matrices.astype(np.float32)).reshape(-1, 3, 4)
        self.vertices = self.posed(body.vertices, self.moves)
        self.head_turn = self.turn @ placed["head"][0]
        self.right, self.front, self.up = (self.head_turn @ np.diag([1, -1, 1])).T
        self.skin_colour = SKINS[rng.integers(len(SKINS))] * rng.uniform(0.88, 1.08) * (1 + rng.normal(0, 0.03, 3))
        self.hair_colour = HAIRS[rng.integers(len(HAIRS))] * rng.uniform(0.75, 1.2)
        self.garments = self.choose_garments()
        self.add_skin()
        self.add_clothes()
        self.add_shoes()
        self.add_hair()
        self.add_accessories()

    def posed(self, vertices, moves):
        return (np.einsum("nij,nj->ni", moves[:, :, :3], vertices) + moves[:, :, 3]) @ self.turn.T

    def random_fabric(self):
        return np.ascontiguousarray(self.fabrics[self.rng.integers(len(self.fabrics))])

    def random_cloth(self, label):
        """A photo, and whether it shows a whole garment of this label rather than a piece of fabric."""
        is_garment = self.rng.random() > 0.35
        photos = self.garments_by_label[label] if is_garment else self.fabrics
        return np.ascontiguousarray(photos[self.rng.integers(len(photos))]), is_garment

    def random_colour(self):
        rng = self.rng
        return np.clip(rng.random(3) if rng.random() < 0.5 else np.full(3, rng.beta(0.6, 1)) * tint(rng), 0.02, 1)

    def choose_garments(self):
        """Names of the methods that add them, from the inside out."""
        rng, is_female = self.rng, self.body.is_female
        if is_female and rng.random() < 0.34:
            garments = ["dress"]
        else:
            garments = ["skirt" if is_female and rng.random() < 0.38 else "bottom", "top"]
        return [*garments, "outer"] if rng.random() < 0.42 else garments

    def add_skin(self):
        rng, body, figure = self.rng, self.body, self.figure
        has_tights = not {"dress", "skirt"}.isdisjoint(self.garments) and rng.random() < 0.45
        colours = self.skin_colour * (1 + 0.05 * smooth_noise(rng, body.vertices, 25)[:, None])
        colours *= 1 - 0.5 * body.brow[:, None] * (1 - 0.5 * self.hair_colour)
        lips = np.clip(self.skin_colour * rng.uniform(0.6, 1) * [1, 0.5, 0.5] + [0.1 * rng.random(), 0, 0], 0, 1)
        colours = blend(colours, lips, 0.6 * figure.lips)
        if not body.is_female and rng.random() < 0.45:
            colours = blend(colours, self.hair_colour, 0.6 * body.beard * rng.random())
        if has_tights:
            share = np.clip((figure.leg - 0.3) * 2, 0, 1) * rng.uniform(0.6, 1)
            is_coloured = rng.random() < 0.35
            colour = np.clip(rng.random(3) * rng.uniform(0.05, 0.6), 0, 1) if is_coloured else np.full(3, rng.uniform(0.03, 0.15))
            colours = blend(colours, colour, share)
        self.has_hair, self.hairline = rng.random() < 0.95, rng.uniform(-0.25, 0.25)
        self.over_hairline = body.scalp - self.hairline + 0.12 * smooth_noise(rng, body.vertices, 30)
        self.is_scalp = (self.over_hairline > 0) & body.on_head & self.has_hair
        colours[self.is_scalp] = self.hair_colour * 0.8
        self.scene.add(self.vertices, figure.skin, self.label_skin(), colours, shine=0.12 * rng.random())
        self.add_eyes()

    def label_skin(self):
        """A label by triangle of the skin."""
        body, figure, triangles = self.body, self.figure, self.figure.skin
        arm, leg, head = (weights[triangles].mean(1) for weights in (figure.arm, figure.leg, figure.head))
        over_hips, over_neckline = (body.places[triangles, k].mean(1) for k in (OVER_HIPS, OVER_NECKLINE))
        chin = (body.eye[2] - 0.118 * body.size - body.hip[2]) / body.size
        neck = (body.neck[2] - body.hip[2]) / body.size
        is_face = (head > 0.45) & (over_neckline > chin - neck - 0.012) & (over_hips > chin - 0.02)
        is_hair = self.is_scalp[triangles].sum(1) >= 2
        labels = np.select([is_hair, is_face, arm > 0.5, leg > 0.5], [Label.HAIR, Label.FACE, Label.ARMS, Label.LEGS], Label.NECK)
        return np.where((labels == Label.NECK) & (over_hips < 0.12), Label.LEGS, labels)

    def add_eyes(self):
        colours = np.tile((0.85, 0.83, 0.8), (VERTICES, 1))
        for side in "lr":
            ball = self.figure.mesh.vertices_of(self.body.vertices, f"helper-{side}-eye")
            ball = ball - ball.mean(0)
            is_iris = -ball[:, 1] / np.linalg.norm(ball, axis=1) > np.cos(0.6)
            self.figure.mesh.vertices_of(colours, f"helper-{side}-eye")[is_iris] = (0.15, 0.1, 0.07)
        triangles, vertices, colours = take(self.figure.eyes, self.vertices, colours)
        self.scene.add(vertices, triangles, Label.FACE, colours, shine=0.2)

    def add_shell(self, kind, label, offset, cut, cloth, colour, *, flare=0.0, sleeve_width=0.0, leg_width=0.0):
        """A garment `offset` m off the skin. Kinds: upper, coat (upper with a skirt from the hips where its hem is below), legs, skirt."""
        rng, body, figure = self.rng, self.body, self.figure
        vertices, normals = body.vertices, body.normals
        arm, leg, over_hips = (body.places[:, k] for k in (ALONG_ARM, ALONG_LEG, OVER_HIPS))
        folds = rng.uniform(0.5, 2.2) * min(1, offset / 0.012)
        offsets = offset + (0.004 * body.size * self.coarse_folds + 0.002 * self.fine_folds) * folds
        if kind in ("upper", "coat"):
            below_neck = np.clip((body.neck[2] - vertices[:, 2]) / (body.neck[2] - body.hip[2]), 0, 1)
            offsets = offsets * np.where(figure.arm > 0.5, 1 + sleeve_width * np.clip(arm, 0, 2), 0.45 + 0.7 * below_neck)
        if kind == "legs":
            offsets = offsets * (0.4 + 0.6 * np.clip((0.05 - over_hips) / 0.35, 0, 1)) * (1 + leg_width * np.clip(leg - 0.3, 0, 2))
            offsets = offsets * np.where(normals[:, 0] * np.sign(vertices[:, 0]) < -0.3, 0.5, 1)
        shell = vertices + normals * offsets[:, None]
        fabric, is_garment = cloth
        texture = np.stack([vertices[:, 0] + 0.3 * vertices[:, 1], -vertices[:, 2]], 1) * rng.uniform(0.9, 2.6) + rng.random(2)
        texture = self.spread_garment(cut) if is_garment else texture
        shadows = 0.28 * smooth_noise(rng, vertices * (1, 1, 0.45), 38) * rng.random() + 0.14 * self.coarse_folds * rng.random()
        colours = colour * np.clip(1 + shadows, 0.4, 1.5)[:, None]
        if label in (Label.TOP, Label.OUTER) and rng.random() < (0.5 if label == Label.OUTER else 0.2):
            # A seam, a zip or a button facing.
            colours[(abs(vertices[:, 0]) < 0.012) & (normals[:, 1] < 0)] *= rng.uniform(0.4, 1.5)
        if kind in ("skirt", "coat"):
            self.widen_skirt(shell, flare, colours)
        triangles = self.shell_triangles(kind, cut.hem < -0.05)
        triangles, shell, moves, places, texture, colours = take(triangles, shell, self.moves, body.places, texture, colours)
        self.scene.add(self.posed(shell, moves), triangles, label, colours, places=places, texture=texture, cut=cut, fabric=fabric)

    def spread_garment(self, cut):
        """Places of the vertices in the photo of a garment: from its top to its end, sleeves like the sides of its lower half."""
        rng, body = self.rng, self.body
        (x, y, z), (arm, leg, over_hips) = body.vertices.T, (body.places[:, k] for k in (ALONG_ARM, ALONG_LEG, OVER_HIPS))
        is_worn = (over_hips > max(cut.hem, -1.2)) & (over_hips < cut.top) & (leg < cut.leg) & (arm < -0.2) & (z < body.neck[2])
        top, bottom = z[is_worn].max(), z[is_worn].min()
        side = rng.choice([-1, 1]) * 0.5 / (0.19 * body.size * rng.uniform(0.85, 1.2))
        is_arm = self.figure.arm > 0.5
        across = np.where(is_arm, 0.15 + y * side * 0.6, 0.5 + x * side)
        return np.stack([across, np.where(is_arm, 0.45 + 0.25 * arm, (top - z) / (top - bottom))], 1)

    def shell_triangles(self, kind, is_long):
        figure, over_hips = self.figure, self.body.places[:, OVER_HIPS]
        if kind == "skirt":
            return figure.skirt
        is_arm = self.body.places[figure.tights, ALONG_ARM].max(1) > -0.2
        top = over_hips[figure.tights].max(1)
        if kind == "legs":
            return figure.tights[~is_arm]
        if is_long:
            skirt = figure.skirt[over_hips[figure.skirt].min(1) < 0.04]
            return np.concatenate([figure.tights[is_arm | (top > -0.02)], skirt])
        return figure.tights[(figure.leg[figure.tights].min(1) < 0.5) | (top > -0.1)]

    def widen_skirt(self, shell, flare, colours):
        """Widen it downwards, and give it folds or pleats."""
        rng, used, middle = self.rng, np.unique(self.figure.skirt), self.body.hip[:2]
        below = np.clip(-self.body.places[used, OVER_HIPS], 0, 1.2)[:, None]
        offsets = (shell[used, :2] - middle) * (1 + flare * below)
        phase = rng.uniform(0, 6.3)
        angles = np.arctan2(offsets[:, 1], offsets[:, 0])[:, None]
        waves = np.sin(angles * (rng.integers(5, 14) if rng.random() < 0.7 else rng.integers(20, 40)) + phase)
        shell[used, :2] = middle + offsets * (1 + rng.uniform(0, 0.09) * below * waves)
        colours[used] *= 1 + rng.uniform(0, 0.25) * waves * np.minimum(1, 4 * below)

    def random_sleeve(self):
        return pick(self.rng, (-0.25, 0.02), (0.25, 0.7), (0.8, 1.4), (1.75, 1.95), shares=[0.2, 0.27, 0.13, 0.4])

    def random_neckline(self):
        rng = self.rng
        kind = rng.random()
        if kind < 0.5:
            return {"neckline": rng.uniform(-0.03, 0), "neckline_depth": rng.uniform(0, 0.05), "neckline_width": 0.09}
        if kind < 0.75:
            return {"neckline": rng.uniform(-0.02, 0), "neckline_depth": rng.uniform(0.08, 0.2), "neckline_width": rng.uniform(0.06, 0.1)}
        return {"neckline": rng.uniform(0, 0.06) if kind < 0.9 else rng.uniform(-0.12, -0.06)}

    def add_clothes(self):
        rng = self.rng
        self.coarse_folds, self.fine_folds = (smooth_noise(rng, self.body.vertices, frequency) for frequency in (14, 35))
        self.waist, self.is_tucked = float(rng.uniform(0, 0.12)), rng.random() < 0.45
        self.looseness = pick(rng, (0.003, 0.01), (0.01, 0.022), (0.02, 0.045))
        for name in self.garments:
            getattr(self, f"add_{name}")()

    def add_bottom(self):
        rng, kind = self.rng, self.rng.random()
        leg = 1.97 if kind < 0.7 else rng.uniform(0.15, 1.0) if kind < 0.87 else rng.uniform(1.3, 1.95)
        offset = pick(rng, (0.003, 0.007), (0.008, 0.016), (0.016, 0.03), shares=[0.45, 0.35, 0.2]) * self.body.size
        cut = Cut(top=self.waist, sleeve=-0.2, leg=leg)
        cloth, colour = self.random_cloth(Label.BOTTOM), tint(rng)
        self.add_shell(
            "legs", Label.BOTTOM, offset, cut, cloth, colour, leg_width=pick(rng, 0, (0, 0.5), (0.5, 2.2), shares=[0.5, 0.3, 0.2])
        )

    def add_skirt(self):
        rng = self.rng
        hem = -pick(rng, (0.2, 0.5), (0.45, 0.9), shares=[0.65, 0.35])
        offset = rng.uniform(0.006, 0.02)
        cut = Cut(hem=hem, top=self.waist + 0.04, hem_wave=pick(rng, 0, (0, 0.02)))
        cloth, colour = self.random_cloth(Label.SKIRT), tint(rng)
        self.add_shell("skirt", Label.SKIRT, offset, cut, cloth, colour, flare=pick(rng, (-0.25, 0.1), (0.1, 0.9)))
        # What reaches up to the top.
        cut = Cut(hem=-0.06, top=self.waist + 0.05, sleeve=-0.2)
        self.add_shell("legs", Label.SKIRT, 0.008, cut, (cloth[0], False), self.scene.layers[-1]["colours"][0])

    def add_top(self):
        rng = self.rng
        hem = self.waist - 0.03 if self.is_tucked else rng.uniform(-0.12, 0)
        if rng.random() < 0.07:
            hem = rng.uniform(0.1, 0.2)
        wave = 0 if self.is_tucked else 0.015 * rng.random()
        offset = (min(self.looseness, 0.018) if self.is_tucked else max(self.looseness, 0.012)) * self.body.size
        cut = Cut(hem=hem, hem_wave=wave, **self.random_neckline(), sleeve=self.random_sleeve())
        cloth, colour, flare = self.random_cloth(Label.TOP), tint(rng), rng.uniform(-0.1, 0.8)
        kind = "coat" if hem < -0.05 else "upper"
        self.add_shell(kind, Label.TOP, offset, cut, cloth, colour, flare=flare, sleeve_width=pick(rng, 0, (0, 1)))

    def add_dress(self):
        rng = self.rng
        hem = -pick(rng, (0.22, 0.55), (0.5, 0.98), shares=[0.6, 0.4])
        wave = pick(rng, 0, (0, 0.03))
        cut = Cut(hem=hem, hem_wave=wave, **self.random_neckline(), sleeve=self.random_sleeve())
        offset = pick(rng, (0.006, 0.012), (0.012, 0.03)) * self.body.size
        cloth, colour, flare = self.random_cloth(Label.DRESS), tint(rng), pick(rng, (-0.2, 0.1), (0.1, 0.9))
        self.add_shell("coat", Label.DRESS, offset, cut, cloth, colour, flare=flare, sleeve_width=pick(rng, 0, (0, 0.8)))

    def add_outer(self):
        rng = self.rng
        hem = pick(rng, (-0.02, 0.1), (-0.25, -0.02), (-0.75, -0.25), shares=[0.3, 0.4, 0.3])
        neckline = rng.uniform(-0.03, 0.05)
        cut = Cut(hem=hem, neckline=neckline, sleeve=pick(rng, (1.75, 1.97), (0.9, 1.7), (-0.2, 0), shares=[0.75, 0.15, 0.1]))
        if rng.random() < 0.8:
            cut = cut._replace(opening=rng.uniform(0.005, 0.12), opening_flare=rng.uniform(0, 0.16), opening_middle=rng.normal(0, 0.015))
        if rng.random() < 0.5:
            cut = cut._replace(neckline_depth=rng.uniform(0.1, 0.3), neckline_width=rng.uniform(0.06, 0.13))
        offset = max(self.looseness, 0.016) * self.body.size * rng.uniform(1.3, 2.2)
        cloth, colour, flare = self.random_cloth(Label.OUTER), tint(rng), rng.uniform(-0.05, 0.5)
        self.add_shell("coat", Label.OUTER, offset, cut, cloth, colour, flare=flare, sleeve_width=rng.uniform(0, 0.5))

    def add_shoes(self):
        """Socks, then high shoes, low shoes, or shoes that leave the instep bare."""
        rng, figure = self.rng, self.figure
        leg = self.body.places[figure.skin, ALONG_LEG].min(1)
        is_leg = figure.leg[figure.skin].mean(1) > 0.5
        if rng.random() < 0.2:
            self.add_footwear(Label.LEGS, is_leg & (leg > rng.uniform(1.2, 1.9)), 0.003, np.full(3, rng.random()) * tint(rng))
        kind = rng.random()
        if kind >= 0.95:
            return
        colour = np.clip(np.full(3, rng.beta(0.6, 1.2)) if rng.random() < 0.6 else rng.random(3), 0.02, 1)
        if kind < 0.3:
            part, offset = is_leg & (leg > rng.uniform(1.2, 1.85)), rng.uniform(0.006, 0.014)
            fabric = self.random_fabric() if rng.random() < 0.3 else None
            self.add_footwear(Label.SHOES, part, offset, colour, fabric, 0.3 * rng.random())
        elif kind < 0.75:
            part, offset = is_leg & (leg > rng.uniform(1.93, 2.0)), rng.uniform(0.006, 0.013)
            self.add_footwear(Label.SHOES, part, offset, colour, None, 0.3 * rng.random())
        else:
            height = self.body.vertices[:, 2] - self.body.vertices[:SKIN_VERTICES, 2].min()
            part = height[figure.skin].max(1) < rng.uniform(0.045, 0.08) * self.body.size
            self.add_footwear(Label.SHOES, part & (figure.foot[figure.skin].mean(1) > 0.4), 0.008, colour, None, 0.3 * rng.random())

    def add_footwear(self, label, part, offset, colour, fabric=None, shine=0.0):
        vertices = self.body.vertices
        texture = vertices[:, [0, 2]] * 2
        values = vertices + self.body.normals * offset, self.moves, texture
        triangles, vertices, moves, texture = take(self.figure.skin[part], *values)
        self.scene.add(self.posed(vertices, moves), triangles, label, colour, texture=texture, fabric=fabric, shine=shine)

    def add_hair(self):
        """A cap of hair, then strands down from it, or a bun and a tail."""
        rng, body, triangles = self.rng, self.body, self.figure.skin
        self.has_hat = rng.random() < 0.2
        if not self.has_hair:
            return
        volume = pick(rng, (0.003, 0.012), (0.012, 0.035), shares=[0.4, 0.6])
        part = (self.over_hairline[triangles] > -0.04).all(1) & body.on_head[triangles].all(1)
        if part.any():
            offsets = volume * (1 + 0.35 * smooth_noise(rng, body.vertices, 22)) * np.clip(self.over_hairline * 3, 0.1, 1)
            noise = smooth_noise(rng, body.vertices, 80)
            cap, vertices, moves, noise = take(triangles[part], body.vertices + body.normals * offsets[:, None], self.moves, noise)
            self.add_hair_layer(self.posed(vertices, moves), cap, 1 + 0.18 * noise, shine=0.15 * rng.random())
        kind = rng.random()
        length = 0.0
        if (body.is_female or rng.random() >= 0.9) and kind >= 0.18:
            length = pick(rng, (0.1, 0.2), (0.2, 0.42), shares=[0.4, 0.6])
        head = self.vertices[self.figure.head > 0.5].mean(0)
        if length and kind > 0.3:
            self.add_strands(head, length, volume)
        elif body.is_female and 0.05 < kind < 0.3:
            centre = head - self.front * 0.1 + self.up * rng.uniform(-0.02, 0.12)
            vertices, bun = ellipsoid(centre, np.full(3, 0.05) * rng.uniform(0.7, 1.4))
            self.add_hair_layer(vertices, bun, 1 + 0.2 * smooth_noise(rng, vertices, 60))
            if rng.random() < 0.4:
                vertices, tail = ellipsoid(centre - [0, 0, 0.15], np.array([0.04, 0.04, 0.17]) * rng.uniform(0.8, 1.2))
                vertices = vertices + self.turn @ [rng.normal(0, 0.04), 0, 0]
                self.add_hair_layer(vertices, tail, 1 + 0.2 * smooth_noise(rng, vertices, 60))

    def add_hair_layer(self, vertices, triangles, brightness, **options):
        self.scene.add(vertices, triangles, Label.HAIR, self.hair_colour * brightness[:, None], **options)

    def add_strands(self, head, length, volume):
        """Strips that face the camera: from the scalp to a ring around the head, then down."""
        rng, count, steps = self.rng, 260, 12
        roots = np.where(self.is_scalp & (self.body.scalp > self.hairline + 0.15))[0]
        if len(roots) <= 20:
            return
        roots = self.vertices[rng.choice(roots, count)]
        lengths = length * rng.uniform(0.75, 1.15, count)
        places = (roots - head) @ np.stack([self.right, self.front], 1)
        is_open = rng.random() < 0.6
        spread, limit = rng.uniform(0.6, 1.15), rng.uniform(1.7, 2.15) if is_open else rng.uniform(1.2, 1.9)
        # 0 at the back.
        angles = np.arctan2(places[:, 0], -places[:, 1])
        angles = np.clip(angles * 1.1 + rng.normal(0, 0.15, count), -limit, limit)
        radii = np.array([0.092 * spread, 0.105]) * (1 + volume * 9) * rng.uniform(0.95, 1.15)
        ring = np.stack([np.sin(angles), -np.cos(angles)], 1) * radii * (1 + rng.normal(0, 0.06, (count, 1)))
        wave, phases, frequency = rng.uniform(0, 0.012), rng.uniform(0, 6.3, count), rng.uniform(2, 7)
        end = head + self.right * ring[:, :1] + self.front * ring[:, 1:] + self.up * (0.03 + 0.04 * rng.random((count, 1)))
        points = [roots + self.up * 0.005]
        points += [roots * (1 - q) + end * q + (roots - head) * 0.18 * np.sin(np.pi * q) for q in (0.35, 0.7, 1.0)]
        for share in np.arange(1, steps + 1) / steps:
            aside = wave * np.sin(frequency * share * 3 + phases) + 0.25 * ring[:, 0] * share * (spread - 0.5)
            points.append(end - [0, 0, 1] * ((lengths + 0.08) * share)[:, None] + self.right * aside[:, None])
        points = np.stack(points, 1)
        widths = np.full(points.shape[1], rng.uniform(0.008, 0.017))
        widths[-4:] *= [0.9, 0.7, 0.5, 0.2]
        ways = np.gradient(points, axis=1)
        across = np.stack([ways[..., 2], 0 * ways[..., 0], -ways[..., 0]], -1)
        across *= widths[:, None] / (np.linalg.norm(across, axis=-1, keepdims=True) + 1e-6)
        vertices = np.stack([points - across, points + across], 2)
        numbers = np.arange(vertices.size // 3).reshape(vertices.shape[:3])
        a, b, c, d = numbers[:, :-1, 0], numbers[:, :-1, 1], numbers[:, 1:, 0], numbers[:, 1:, 1]
        triangles = np.concatenate([np.stack(corners, -1).reshape(-1, 3) for corners in ((a, b, d), (a, d, c))]).astype(np.int32)
        brightness = rng.uniform(0.7, 1.25, (count, 1, 1)) * np.ones(vertices.shape[:3])
        brightness *= 1 + 0.15 * np.sin(np.linspace(0, 9, points.shape[1]))[:, None]
        # What hangs at the front is before the clothes.
        is_front = np.repeat(abs(angles) > 1.35, numbers[0].size)[triangles[:, 0]]
        for part, nearer in ((is_front, 0.13), (~is_front, 0.0)):
            if part.any():
                self.add_hair_layer(vertices.reshape(-1, 3), triangles[part], brightness.ravel(), shine=0.1, nearer=nearer)

    def add_accessories(self):
        rng = self.rng
        if self.has_hat:
            self.add_hat()
        if rng.random() < 0.28:
            self.add_glasses()
        if rng.random() < 0.18:
            self.add_scarf()
        self.add_bands()
        if rng.random() < 0.26:  # a belt
            cut = Cut(hem=self.waist - 0.03, top=self.waist + 0.015, sleeve=-0.2)
            self.add_shell("legs", Label.ACCESSORY, 0.028, cut, (None, False), self.random_colour())
        for _ in range(rng.choice([0, 1, 2], p=[0.4, 0.48, 0.12])):
            self.add_bag()

    def add_hat(self):
        rng, colour, kind = self.rng, self.random_colour(), self.rng.random()
        centre = self.vertices[self.figure.head > 0.5].mean(0) + self.up * 0.045
        radii = np.array([0.1, 0.115, 0.11 * rng.uniform(0.75, 1.35)]) * rng.uniform(1, 1.12)
        vertices, triangles = ellipsoid(centre, radii, self.head_turn)
        triangles = triangles[((vertices - centre) @ self.up)[triangles].min(1) > -0.03]
        self.scene.add(vertices, triangles, Label.ACCESSORY, colour * (1 + 0.06 * smooth_noise(rng, vertices, 40)[:, None]))
        if kind < 0.65:
            brim = np.array([0.18 * rng.uniform(0.8, 1.3), 0.2 * rng.uniform(0.8, 1.2), 0.012])
            self.scene.add(*ellipsoid(centre, brim, self.head_turn), Label.ACCESSORY, colour * rng.uniform(0.8, 1.1))

    def add_glasses(self):
        rng, colour = self.rng, 0.05 + self.rng.random(3) * 0.15
        eyes = [self.figure.mesh.vertices_of(self.vertices, f"helper-{side}-eye").mean(0) for side in "lr"]
        radius = rng.uniform(0.022, 0.033)
        for eye in eyes:
            radii = np.array([radius, 0.008, radius * rng.uniform(0.65, 0.95)])
            self.scene.add(*ellipsoid(eye + self.front * 0.022, radii, self.head_turn, 10, 0.7), Label.ACCESSORY, colour, shine=0.3)
        bridge = ellipsoid(np.mean(eyes, 0) + self.front * 0.026, np.array([0.03, 0.004, 0.004]), self.head_turn, 8)
        self.scene.add(*bridge, Label.ACCESSORY, colour)

    def add_scarf(self):
        rng, fabric = self.rng, self.random_fabric()
        neck = self.vertices[self.figure.mesh.groups["joint-neck"][0][0]]
        for _ in range(rng.integers(1, 4)):
            centre = neck + [0, 0, rng.uniform(-0.03, 0.03)]
            vertices, triangles = ellipsoid(centre, np.array([0.12, 0.115, 0.045]) * rng.uniform(0.9, 1.35))
            vertices = vertices + 0.008 * smooth_noise(rng, vertices, 40)[:, None]
            self.scene.add(vertices, triangles, Label.ACCESSORY, tint(rng), texture=vertices[:, [0, 2]] * 2, fabric=fabric)
        for _ in range(rng.integers(0, 3)):
            centre = neck + self.turn @ [rng.normal(0, 0.08), -0.15, -rng.uniform(0.15, 0.35)]
            vertices, triangles = ellipsoid(centre, np.array([0.06, 0.03, 0.24]) * rng.uniform(0.7, 1.6, 3), None, 14, 0.7)
            vertices = vertices + 0.01 * smooth_noise(rng, vertices, 30)[:, None]
            self.scene.add(vertices, triangles, Label.ACCESSORY, tint(rng), texture=vertices[:, [0, 2]] * 2, fabric=fabric, nearer=0.04)

    def add_bands(self):
        """Bracelets, watches or gloves."""
        rng, figure, triangles = self.rng, self.figure, self.figure.skin
        arm, x = self.body.places[triangles, ALONG_ARM].mean(1), self.body.vertices[triangles, 0].mean(1)
        for sign, kind in zip((-1, 1), rng.random(2)):
            if kind < 0.23:
                start = rng.uniform(1.7, 1.9)
                end = 9 if kind < 0.03 else start + rng.uniform(0.06, 0.2)
                part = (figure.arm[triangles].mean(1) > 0.5) & (x * sign > 0) & (arm > start) & (arm < end)
                self.add_footwear(Label.ACCESSORY, part, rng.uniform(0.004, 0.012), self.random_colour(), None, 0.4 * rng.random())

    def add_bag(self):
        """In the hand, on a strap over a shoulder, or a clutch."""
        rng, mesh = self.rng, self.figure.mesh
        fabric = self.random_fabric() if rng.random() < 0.5 else None
        colour = self.random_colour() if fabric is None else tint(rng)
        side = "lr"[rng.integers(2)]
        hand, shoulder = (mesh.joint(self.vertices, side, joint) for joint in ("hand-3", "shoulder"))
        kind, start = rng.random(), None
        radii = np.array([rng.uniform(0.08, 0.21), rng.uniform(0.03, 0.08), rng.uniform(0.07, 0.19)])
        turn = rotation((0, 0, 1), rng.uniform(-50, 50) + self.yaw)
        if kind < 0.45:
            centre, start = hand - [0, 0, radii[2] + rng.uniform(0.03, 0.16)], hand
        elif kind < 0.8:
            aside = rng.uniform(0.1, 0.2) * (1 if side == "l" else -1)
            hip = mesh.vertices_of(self.vertices, f"joint-{side}-upper-leg")[0]
            centre, start = hip + self.turn @ [aside, rng.uniform(-0.12, 0.05), rng.uniform(-0.1, 0.2)], shoulder
        else:
            centre, radii = hand + self.turn @ [0, -0.03, 0], radii * 0.8
        vertices, triangles = ellipsoid(centre, radii, turn, 14, rng.uniform(0.35, 0.8))
        vertices = vertices + 0.006 * smooth_noise(rng, vertices, 20)[:, None]
        texture, shine = vertices[:, [0, 2]] * 2.5, 0.2 * rng.random()
        self.scene.add(vertices, triangles, Label.ACCESSORY, colour, texture=texture, fabric=fabric, shine=shine, nearer=0.02)
        if start is None:
            return
        if kind >= 0.45 and rng.random() < 0.4:
            start = mesh.joint(self.vertices, "r" if side == "l" else "l", "shoulder") + [0, 0, 0.03]
        for aside in (-0.6, 0.6):
            end = centre + turn @ [aside * radii[0], 0, radii[2] * 0.9]
            self.add_strap(start + [0, 0, 0.03], end, -0.16 if kind >= 0.45 else 0, np.clip(colour * 0.8, 0, 1))

    def add_strap(self, start, end, sag, colour):
        way = np.linspace(0, 1, 10)[:, None]
        points = start * (1 - way) + end * way + np.array([0, sag, 0]) * np.sin(np.pi * way)
        half = [self.rng.uniform(0.004, 0.012), 0, 0]
        triangles = np.array([corners for k in range(9) for corners in ((k, k + 10, k + 11), (k, k + 11, k + 1))], np.int32)
        self.scene.add(np.concatenate([points - half, points + half]), triangles, Label.ACCESSORY, colour, nearer=0.03)

    def joints(self):
        """Places of the left and right shoulder, hip, elbow, hand, knee, ankle and eye, of the nose and of the ears."""
        mesh, names = self.figure.mesh, ("shoulder", "upper-leg", "elbow", "hand", "knee", "ankle")
        joints = [mesh.joint(self.vertices, side, name) for name in names for side in "lr"]
        joints += [mesh.vertices_of(self.vertices, f"helper-{side}-eye").mean(0) for side in "lr"]
        return np.stack([*joints, *self.vertices[[self.body.nose, *self.body.ears]]])


def blend(colours, colour, share):
    return colours * (1 - share[:, None]) + colour * share[:, None]


def smooth_noise(rng, vertices, frequency):
    """A sum of waves in space, with a deviation below 1; the frequency is in radians per m."""
    total = np.zeros(len(vertices))
    for _ in range(5):
        wave = rng.normal(0, frequency, 3) * (1, 1, 0.7)
        total += np.sin(vertices @ wave + rng.uniform(0, 6.3))
    return total / 5**0.5


def pick(rng, *ranges, shares=None):
    """A number out of one of the ranges; a single number stands for itself."""
    values = [rng.uniform(*one) if isinstance(one, tuple) else one for one in ranges]
    return float(rng.choice(values, p=shares))


def tint(rng):
    return np.clip(rng.normal(1, 0.12) + rng.normal(0, 0.04, 3), 0.35, 1.5)
