"""What the parser gets beside the picture: the crop around a person, and the guide maps that a pose network draws."""

import enum
from typing import NamedTuple

import numpy as np
import onnxruntime
from PIL import Image
from scipy.ndimage import map_coordinates

# Width and height of the crop in px; guide maps and labels have a quarter of them.
WIDTH, HEIGHT = 256, 384
STRIDE = 4
# A label of pixels that are neither learnt nor measured.
IGNORED = 255


class Label(enum.IntEnum):
    """What a pixel shows; the legs include the feet, and what the other labels do not name is an accessory."""

    BACKGROUND, HAIR, FACE, NECK, ARMS, LEGS, TOP, OUTER, BOTTOM, SKIRT, DRESS, SHOES, ACCESSORY = range(13)


SHOULDERS, HIPS, KNEES, ANKLES = (11, 12), (23, 24), (25, 26), (27, 28)
ELBOWS, WRISTS, INDEX_FINGERS, HEELS, TOES = (13, 14), (15, 16), (19, 20), (29, 30), (31, 32)
EYES, EARS, MOUTH = (2, 5), (7, 8), (9, 10)
# Each guide point is the mean of these landmarks.
POINTS = (
    (0,),
    EYES,
    *((k,) for k in EARS),
    MOUTH,
    *((k,) for pair in (SHOULDERS, ELBOWS, WRISTS, HIPS, KNEES, ANKLES, TOES) for k in pair),
)
LIMBS = (
    *((11, 13), (13, 15), (12, 14), (14, 16), (23, 25), (25, 27), (24, 26), (26, 28)),
    *((15, 19), (16, 20), (27, 31), (28, 32)),
)
GUIDES = 2 + len(POINTS) + len(LIMBS) + 1

DETECTOR_SIDE, LANDMARKS_SIDE = 224, 256
# Centres of the detector's anchors, 0 to 1: grids of the given sides with so many anchors a cell.
ANCHORS = np.array(
    [
        ((cell % side + 0.5) / side, (cell // side + 0.5) / side)
        for side, count in ((28, 2), (14, 2), (7, 6))
        for cell in np.repeat(np.arange(side * side), count)
    ]
)


class Region(NamedTuple):
    """A square of a photo: centre and side in px, and the angle by which it is turned, in radians."""

    x: float
    y: float
    side: float
    angle: float

    @classmethod
    def around(cls, centre, end):
        """The region that BlazePose looks at, from the middle of the hips and the end of the body."""
        x, y = np.subtract(end, centre)
        return cls(*centre, 2.5 * np.hypot(x, y), np.pi / 2 - np.arctan2(-y, x))

    def to_photo(self, size, x, y):
        """Pixels of the region, drawn `size` px wide, to pixels of the photo."""
        scale, middle = self.side / size, (size - 1) / 2
        cosine, sine = np.cos(self.angle) * scale, np.sin(self.angle) * scale
        return self.x + cosine * (x - middle) - sine * (y - middle), self.y + sine * (x - middle) + cosine * (y - middle)

    def from_photo(self, size, x, y):
        scale, middle = size / self.side, (size - 1) / 2
        cosine, sine = np.cos(self.angle) * scale, np.sin(self.angle) * scale
        return middle + cosine * (x - self.x) + sine * (y - self.y), middle - sine * (x - self.x) + cosine * (y - self.y)

    def draw(self, photo, size, repeat_border=True):
        """`size` × `size` × 3, 0 to 1; beyond the photo its border goes on, or it is black."""
        factor = max(1, int(self.side / size / 2))
        photo = photo.reduce(factor) if factor > 1 else photo
        x, y, side = (self.x + 0.5) / factor - 0.5, (self.y + 0.5) / factor - 0.5, self.side / factor
        pixels = np.asarray(photo)
        if repeat_border:
            padding = int(side * 0.75) + 2
            pixels = np.pad(pixels, ((padding, padding), (padding, padding), (0, 0)), mode="edge")
            x, y = x + padding, y + padding
        scale, middle = side / size, (size - 1) / 2
        cosine, sine = np.cos(self.angle) * scale, np.sin(self.angle) * scale
        left, top = x - (cosine - sine) * middle, y - (sine + cosine) * middle
        # Pillow counts from the corners of pixels.
        matrix = (cosine, -sine, left + 0.5 - 0.5 * (cosine - sine), sine, cosine, top + 0.5 - 0.5 * (sine + cosine))
        return (
            np.asarray(
                Image.fromarray(pixels).transform((size, size), Image.Transform.AFFINE, matrix, Image.Resampling.BILINEAR), np.float32
            )
            / 255
        )


class Pose(NamedTuple):
    points: np.ndarray  # 39 × (x and y in px of the photo, visibility, presence)
    flag: float  # 0 to 1: whether there is a person
    mask: np.ndarray  # 256 × 256, 0 to 1, of the region
    region: Region
    next_region: Region
    size: tuple  # width and height of the photo


def open_session(model):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def sigmoid(values):
    return 1 / (1 + np.exp(-np.clip(values, -30, 30)))


def find_pose(photo, detector, landmarks):
    """The pose of the person in the whole photo, from sessions of both networks."""
    region = detect(photo, detector)
    first = locate(photo, region, landmarks)
    return locate(photo, first.next_region if first.flag > 0.3 else region, landmarks)


def detect(photo, detector):
    width, height = photo.size
    whole = Region((width - 1) / 2, (height - 1) / 2, max(width, height), 0.0)
    image = whole.draw(photo, DETECTOR_SIDE, repeat_border=False) * 2 - 1
    boxes, scores = detector.run(["boxes", "scores"], {"image": image[None]})
    scores = sigmoid(scores[0, :, 0])
    best = scores.argmax()
    near = (scores > 0.5) & (np.abs(ANCHORS - ANCHORS[best]).max(1) < 0.12)
    near[best] = True
    found = boxes[0][near] / DETECTOR_SIDE + np.tile(ANCHORS[near], 6)
    found = (found * scores[near, None]).sum(0) / scores[near].sum() * DETECTOR_SIDE - 0.5
    return Region.around(*(whole.to_photo(DETECTOR_SIDE, found[k], found[k + 1]) for k in (4, 6)))


def locate(photo, region, landmarks):
    """The pose of the person in the region; landmarks are refined by their heat maps."""
    image = region.draw(photo, LANDMARKS_SIDE)
    found, flag, mask, heat = landmarks.run(["landmarks", "pose_flag", "segmentation", "heatmap"], {"image": image[None]})
    found, heat = found.reshape(39, 5), sigmoid(heat[0])
    x, y = found[:, 0].copy(), found[:, 1].copy()
    for k in range(39):
        column, row = int(x[k] / 4), int(y[k] / 4)
        if 0 <= column < 64 and 0 <= row < 64:
            top, left = max(0, row - 3), max(0, column - 3)
            part = heat[top : row + 4, left : column + 4, k]
            if part.max() > 0.5:
                rows, columns = np.mgrid[top : top + part.shape[0], left : left + part.shape[1]]
                x[k], y[k] = (part * columns).sum() / part.sum() * 4, (part * rows).sum() / part.sum() * 4
    x, y = region.to_photo(LANDMARKS_SIDE, x - 0.5, y - 0.5)
    points = np.stack([x, y, sigmoid(found[:, 3]), sigmoid(found[:, 4])], 1)
    next_region = Region.around(points[33, :2], points[34, :2])
    return Pose(points, float(flag.ravel()[0]), sigmoid(mask[0, :, :, 0]), region, next_region, photo.size)


def find_box(pose):
    """Left, top, right and bottom in px of the photo, of 2:3, around the person's mask and landmarks; may exceed the photo."""
    rows, columns = np.where(pose.mask > 0.5)
    x, y = [], []
    if len(columns) > 50:
        left, right = np.percentile(columns, [0.3, 99.7])
        top, bottom = np.percentile(rows, [0.3, 99.7])
        inside = (columns >= left) & (columns <= right) & (rows >= top) & (rows <= bottom)
        x, y = map(list, pose.region.to_photo(LANDMARKS_SIDE, columns[inside], rows[inside]))
    seen = pose.points[:33][pose.points[:33, 2] > 0.5]
    x, y = x + list(seen[:, 0]), y + list(seen[:, 1])
    width, height = pose.size
    if len(x) < 5:
        return 0, 0, width, height
    x, y = np.clip(x, 0, width - 1), np.clip(y, 0, height - 1)
    left, right, top, bottom = min(x), max(x), min(y), max(y)
    margin = 0.06 * max(bottom - top, right - left)
    left, right, top, bottom = left - margin, right + margin, top - margin, bottom + margin
    wider = max(0, (bottom - top) * WIDTH / HEIGHT - (right - left)) / 2
    taller = max(0, (right - left) * HEIGHT / WIDTH - (bottom - top)) / 2
    return left - wider, top - taller, right + wider, bottom + taller


def crop(photo, box):
    """The box of the photo, WIDTH × HEIGHT; grey beyond the photo."""
    factor = max(1, int((box[2] - box[0]) / WIDTH / 1.3))
    photo = photo.reduce(factor) if factor > 1 else photo
    left, top, right, bottom = (value / factor for value in box)
    matrix = ((right - left) / WIDTH, 0, left, 0, (bottom - top) / HEIGHT, top)
    return photo.transform((WIDTH, HEIGHT), Image.Transform.AFFINE, matrix, Image.Resampling.BILINEAR, fillcolor=(127, 127, 127))


def draw_guides(pose, box):
    """GUIDES × HEIGHT / 4 × WIDTH / 4: person's mask, inside of the photo, points, limbs, and the way from the hips to the shoulders."""
    left, top, right, bottom = box
    columns, rows = WIDTH // STRIDE, HEIGHT // STRIDE
    x, y = np.meshgrid(
        left + (np.arange(columns) + 0.5) * (right - left) / columns - 0.5, top + (np.arange(rows) + 0.5) * (bottom - top) / rows - 0.5
    )
    across, down = pose.region.from_photo(LANDMARKS_SIDE, x, y)
    mask = map_coordinates(pose.mask, [down, across], order=1, mode="constant")
    width, height = pose.size
    maps = [mask, (x >= -0.5) & (y >= -0.5) & (x <= width - 0.5) & (y <= height - 0.5)]
    points, seen = pose.points[:, :2], pose.points[:, 2]
    # About 3 % of the height of the body.
    radius = 0.03 * pose.region.side / 2.5 * 2
    for landmarks in map(list, POINTS):
        point = points[landmarks].mean(0)
        maps.append(seen[landmarks].mean() * np.exp(-((x - point[0]) ** 2 + (y - point[1]) ** 2) / (2 * radius**2)))
    for a, b in LIMBS:
        way = share_of_way(x, y, points[a], points[b]).clip(0, 1)
        along_x, along_y = (points[a, k] + way * (points[b, k] - points[a, k]) for k in (0, 1))
        near = np.exp(-((x - along_x) ** 2 + (y - along_y) ** 2) / (2 * radius**2))
        maps.append((seen[a] * (1 - way) + seen[b] * way) * near)
    torso = share_of_way(x, y, points[list(HIPS)].mean(0), points[list(SHOULDERS)].mean(0))
    return np.stack([*maps, np.clip(torso, -2.5, 2.5) / 2.5]).astype(np.float32)


def share_of_way(x, y, start, end):
    """0 at the start, 1 at the end, of the projections of the pixels on the line between them."""
    way = end - start
    return ((x - start[0]) * way[0] + (y - start[1]) * way[1]) / max(way @ way, 1e-6)
