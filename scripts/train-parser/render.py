"""Pictures of random clothed people, with labels: the camera looks along +y."""

import io

import numpy as np
from PIL import Image, ImageFilter

from guides import HEIGHT, WIDTH
from layers import rasterise, shade, vertex_normals
from mesh import SKIN_VERTICES
from person import BODIES, Person
from scenery import GARMENTS, make_background, to_picture


class Camera:
    """A camera at a random place before the person, whose skin fills the picture; in a quarter of the pictures only its upper part."""

    def __init__(self, rng, skin):
        height, kind = skin[:, 2].max(), rng.random()
        distance, over_ground = rng.uniform(2.6, 7), rng.uniform(0.5, 1.75)
        is_half = kind > 0.75
        self.is_whole = not is_half
        low = height * rng.uniform(0.08, 0.55) if is_half else 0.0
        self.place = np.array([0, -distance, over_ground])
        forward = np.array([0, distance, (low + height) / 2 - over_ground])
        self.forward = forward / np.linalg.norm(forward)
        roll = np.radians(rng.normal(0, 2))
        self.up = np.cross([np.cos(roll), 0, np.sin(roll)], self.forward)
        self.right = np.cross(self.forward, self.up)
        self.focus, self.x, self.y = 1.0, 0.0, 0.0
        x, y, _ = self.project(skin).T
        top, bottom = y.min(), np.percentile(y[skin[:, 2] >= low], 99.8)
        margin = rng.uniform(0.03, 0.12) * (bottom - top)
        span = bottom - top + (1 if is_half else 2) * margin
        span = max(span, np.ptp(x) * 1.1 * HEIGHT / WIDTH) if rng.random() < 0.8 else span
        middle = (x.max() + x.min()) / 2 + rng.normal(0, 0.03) * span
        self.focus = HEIGHT / span
        self.x = WIDTH / 2 - middle * self.focus
        self.y = -(top - margin if is_half else (top + bottom) / 2 - span / 2) * self.focus

    def project(self, points):
        """x and y in px of the picture, and the depth in m."""
        seen = points - self.place
        depth = seen @ self.forward
        return np.stack([seen @ self.right / depth * self.focus + self.x, -(seen @ self.up) / depth * self.focus + self.y, depth], 1)


class Renderer:
    """Pictures of random people of a figure, with the fabrics, garments and backgrounds of the folder that `save_scenery` wrote."""

    def __init__(self, figure, folder):
        self.figure = figure
        self.fabrics, self.backgrounds = (np.load(folder / f"{name}.npy", mmap_mode="r") for name in ("fabrics", "backgrounds"))
        self.garments = {label: np.load(folder / f"garments-{label.name.lower()}.npy", mmap_mode="r") for label in set(GARMENTS.values())}
        # The last people: others far behind a person are background.
        self.crowd = []

    def render(self, rng):
        """HEIGHT × WIDTH × 3 and the labels, 0 to 255, and the person's joints in px, which may be beyond the picture."""
        person = Person(self.figure.body(rng.integers(BODIES)), rng, self.fabrics, self.garments)
        ground = [0, 0, person.vertices[:SKIN_VERTICES, 2].min()]
        camera = Camera(rng, person.vertices[:SKIN_VERTICES] - ground)
        image, cover, labels = self.draw(rng, person.scene, camera, ground)
        background = self.add_crowd(rng, make_background(rng, self.fabrics, self.backgrounds))
        if camera.is_whole:
            self.crowd = [*self.crowd[-29:], (image, cover)]
        if rng.random() < 0.7:
            background = add_shadow(rng, background, camera)
        exposure = rng.uniform(0.85, 1.5) * (1 + rng.normal(0, 0.05, 3))
        image = image * exposure + background * (1 - cover[..., None])
        return develop(rng, np.clip(image, 0, 1)), labels, camera.project(person.joints() - ground)[:, :2]

    def draw(self, rng, scene, camera, ground):
        """The person on black (0 to 1), what it covers, and the labels; drawn at twice the size."""
        height, width = 2 * HEIGHT, 2 * WIDTH
        layers = scene.joined()
        vertices, triangles = layers["vertices"] - ground, layers["triangles"]
        depths, found = np.full((height, width), 1e9), np.full((height, width), -1, np.int32)
        shares = np.zeros((height, width, 2), np.float32)
        points = camera.project(vertices) * [2, 2, 1]
        rasterise(points, triangles, layers["layers"], layers["places"], layers["cut"], layers["nearer"], depths, found, shares)
        azimuth, elevation = np.radians(rng.normal(0, 45)), np.radians(rng.uniform(15, 75))
        light = np.array([np.sin(azimuth) * np.cos(elevation), -np.cos(azimuth) * np.cos(elevation), np.sin(elevation)])
        image, labels = np.zeros((height, width, 3), np.float32), np.zeros((height, width), np.uint8)
        fabrics = np.stack(scene.fabrics) if scene.fabrics else np.zeros((1, 1, 1, 3), np.uint8)
        surface = vertex_normals(vertices, triangles), layers["texture"], layers["colours"], layers["fabric"], fabrics
        lights = light, rng.uniform(0.45, 0.9), layers["shine"], -camera.forward
        shade(triangles, layers["layers"], layers["labels"], found, shares, *surface, *lights, image, labels)
        cover = (found >= 0).astype(np.float32)
        return image.reshape(HEIGHT, 2, WIDTH, 2, 3).mean((1, 3)), cover.reshape(HEIGHT, 2, WIDTH, 2).mean((1, 3)), labels[::2, ::2]

    def add_crowd(self, rng, background):
        if len(self.crowd) <= 5 or rng.random() >= 0.4:
            return background
        background = background.copy()
        for _ in range(rng.integers(1, 5)):
            image, cover = self.crowd[rng.integers(len(self.crowd))]
            scale = rng.uniform(0.15, 0.55)
            size, blur = (int(WIDTH * scale), int(HEIGHT * scale)), rng.uniform(0, 2.5)
            picture = to_picture(np.dstack([image / np.maximum(cover[..., None], 0.05), cover]).clip(0, 1))
            picture = picture.resize(size, Image.Resampling.BOX).filter(ImageFilter.GaussianBlur(blur))
            x, y = int(rng.uniform(-0.1, 1) * WIDTH), int(rng.uniform(0.05, 0.6) * HEIGHT)
            pixels = np.asarray(picture, np.float32)[: HEIGHT - y, max(0, -x) : WIDTH - x] / 255
            part = background[y : y + pixels.shape[0], max(0, x) : max(0, x) + pixels.shape[1]]
            part[:] = part * (1 - pixels[..., 3:]) + pixels[..., :3] * pixels[..., 3:]
        return background


def add_shadow(rng, background, camera):
    """A shadow on the ground below the person."""
    ((x, y, depth),) = camera.project(np.zeros((1, 3)))
    radius = 0.35 * camera.focus / depth
    rows, columns = np.mgrid[0:HEIGHT, 0:WIDTH]
    strength, aside = rng.uniform(0.1, 0.6), rng.normal(0, 0.3) * radius
    shadow = np.exp(-(((columns - x - aside) / radius) ** 2 + ((rows - y) / (radius * 0.28)) ** 2))
    return background * (1 - strength * shadow)[..., None]


def develop(rng, image):
    """The picture as a camera would save it: tones, noise, blur, JPEG."""
    image = image ** rng.uniform(0.75, 1.3)
    image = np.clip((image - 0.5) * rng.uniform(0.75, 1.3) + 0.5 + rng.normal(0, 0.05), 0, 1)
    grey = image.mean(2, keepdims=True)
    image = np.clip(grey + (image - grey) * rng.uniform(0.5, 1.4), 0, 1)
    if rng.random() < 0.6:
        image = np.clip(image + rng.normal(0, rng.uniform(0, 0.04), image.shape), 0, 1)
    radius = rng.choice([0, rng.uniform(0.2, 1.1)])
    picture = to_picture(image)
    if radius:
        picture = picture.filter(ImageFilter.GaussianBlur(float(radius)))
    file = io.BytesIO()
    picture.save(file, "JPEG", quality=int(rng.integers(45, 96)))
    return np.asarray(Image.open(file))
