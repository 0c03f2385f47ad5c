"""What rendered people wear and stand in front of: fabrics and backgrounds, painted and cut out of photos under CC0."""

import collections
import csv
import random

import numpy as np
from PIL import Image, ImageDraw, ImageFilter
from scipy.ndimage import binary_erosion, distance_transform_edt

from guides import HEIGHT, WIDTH, Label, open_session

# How many photos of each label of clothing-dataset are used.
PHOTOS = {"T-Shirt": 65, "Longsleeve": 65, "Pants": 80, "Shorts": 40, "Shirt": 60, "Dress": 130, "Skirt": 90, "Outwear": 110}
PHOTOS |= {"Blazer": 60, "Hoodie": 40, "Shoes": 25, "Hat": 20, "Polo": 20, "Undershirt": 15, "Top": 20, "Blouse": 15}
# What photos of these labels are textures of as a whole; hoods, collars, zips and waists are where they belong.
GARMENTS = {"Dress": Label.DRESS, "Skirt": Label.SKIRT} | dict.fromkeys(("Outwear", "Blazer"), Label.OUTER)
GARMENTS |= dict.fromkeys(("T-Shirt", "Longsleeve", "Shirt", "Hoodie", "Polo", "Undershirt", "Top", "Blouse"), Label.TOP)
GARMENTS |= dict.fromkeys(("Pants", "Shorts"), Label.BOTTOM)
FABRIC_SIDE = 256
PAINTED_FABRICS = 300


def save_scenery(photos, small, salience, folder):
    """Write fabrics.npy and garments-LABEL.npy (count × 256 × 256 × 3) and backgrounds.npy (count × HEIGHT × WIDTH × 3), 0 to 255."""
    rng = np.random.default_rng(3)
    fabrics, backgrounds = [paint_fabric(rng) for _ in range(PAINTED_FABRICS)], []
    garments = {label: [] for label in GARMENTS.values()}
    session = open_session(salience)
    for file, label in list_photos(photos, small):
        photo = Image.open(file).convert("RGB")
        photo.thumbnail((400, 400), Image.Resampling.BOX)
        image = np.asarray(photo.resize((320, 320), Image.Resampling.LANCZOS), np.float32)[None] / 255
        mask = Image.fromarray((255 * session.run(None, {"image": image})[0][0, :, :, 0]).astype(np.uint8))
        mask = np.asarray(mask.resize(photo.size, Image.Resampling.BILINEAR))
        fabric = None if label in ("Shoes", "Hat") else cut_fabric(photo, mask > 200)
        garment = cut_garment(photo, mask > 150) if label in GARMENTS else None
        if garment is not None:
            garments[GARMENTS[label]].append(garment)
        background = cut_background(photo, mask > 25)
        fabrics += [] if fabric is None else [fabric]
        backgrounds += [] if background is None else [background]
    folder.mkdir(parents=True, exist_ok=True)
    np.save(folder / "fabrics.npy", np.stack(fabrics))
    np.save(folder / "backgrounds.npy", np.stack(backgrounds))
    for label, images in garments.items():
        np.save(folder / f"garments-{label.name.lower()}.npy", np.stack(images))
    print(len(fabrics), "fabrics,", len(backgrounds), "backgrounds,", sum(map(len, garments.values())), "garments")


def list_photos(photos, small):
    """Files and labels, without the photos that `scripts/bench photos` measures."""
    left_out = {file.name for part in ("test", "validation") for file in small.glob(f"{part}/*/*.jpg")}
    with open(photos / "images.csv", newline="") as table:
        rows = sorted(csv.DictReader(table), key=lambda row: row["image"])
    random.Random(1).shuffle(rows)
    counts = collections.Counter()
    for row in rows:
        file = photos / "images" / f"{row['image']}.jpg"
        if file.name in left_out or not file.exists():
            continue
        counts[row["label"]] += 1
        if counts[row["label"]] <= PHOTOS.get(row["label"], 0):
            yield file, row["label"]


def cut_fabric(photo, mask):
    """The largest square around the middle of the garment that is inside it."""
    if not 0.08 < mask.mean() < 0.9:
        return None
    y, x = (int(np.median(places)) for places in np.where(mask))
    for side in (200, 160, 130, 100, 80, 60):
        top, left = y - side // 2, x - side // 2
        inside = mask[max(top, 0) : top + side, max(left, 0) : left + side]
        if inside.size == side * side and inside.mean() > 0.985:
            return np.asarray(photo.crop((left, top, left + side, top + side)).resize((FABRIC_SIDE,) * 2, Image.Resampling.BICUBIC))
    return None


def cut_garment(photo, mask):
    """The garment from its top to its end, as wide as it is at half of its height; its colours go on beyond its edges."""
    rows = np.where(mask.mean(1) > 0.03)[0]
    if not 0.1 < mask.mean() < 0.9 or np.ptp(rows) < 100:
        return None
    top, bottom = rows[0], rows[-1]
    middle = np.where(mask[(3 * top + 2 * bottom) // 5 : (2 * top + 3 * bottom) // 5].mean(0) > 0.5)[0]
    if len(middle) < 50:
        return None
    nearest = distance_transform_edt(~binary_erosion(mask, iterations=3), return_distances=False, return_indices=True)
    filled = Image.fromarray(np.asarray(photo)[tuple(nearest)])
    return np.asarray(filled.resize((FABRIC_SIDE,) * 2, Image.Resampling.BICUBIC, (middle[0], top, middle[-1] + 1, bottom + 1)))


def cut_background(photo, mask):
    """The largest part of the photo without the garment."""
    height, width = mask.shape
    sums = np.pad(mask.cumsum(0).cumsum(1), ((1, 0), (1, 0)))
    best, box = 0, None
    for share in (0.75, 0.5, 0.35, 0.25):
        rows = int(height * share)
        for ratio in (0.66, 1.0, 0.4):
            columns = int(min(width, rows * ratio))
            for top in np.linspace(0, height - rows, 4).astype(int):
                for left in np.linspace(0, width - columns, 4).astype(int):
                    bottom, right = top + rows, left + columns
                    covered = sums[bottom, right] - sums[top, right] - sums[bottom, left] + sums[top, left]
                    if covered < 0.01 * rows * columns and rows * columns > best:
                        best, box = rows * columns, (left, top, right, bottom)
    if box is None or box[2] - box[0] <= 60:
        return None
    return np.asarray(photo.crop(box).resize((WIDTH, HEIGHT), Image.Resampling.BICUBIC))


def resized_noise(rng, side, width, height):
    """Smooth noise with a deviation of about 1, from side × side random numbers."""
    noise = rng.normal(size=(side, side)).astype(np.float32)
    return np.asarray(Image.fromarray(noise).resize((width, height), Image.Resampling.BICUBIC))


def paint_fabric(rng):
    side = FABRIC_SIDE
    first = rng.beta(0.7, 0.7, 3) if rng.random() < 0.5 else np.full(3, rng.beta(0.6, 0.6)) + rng.normal(0, 0.04, 3)
    first = np.clip(first, 0.02, 0.98)
    second = np.clip(rng.random(3), 0, 1) if rng.random() < 0.5 else np.clip(first + rng.normal(0, 0.25, 3), 0, 1)
    y, x = np.mgrid[0:side, 0:side] / side
    kind, pattern = rng.random(), np.zeros((side, side))
    if 0.45 <= kind < 0.66:  # stripes
        count = rng.integers(3, 30)
        pattern = ((y if kind < 0.6 else x) * count) % 1 < rng.uniform(0.2, 0.6)
    elif 0.66 <= kind < 0.74:  # checks
        count = rng.integers(3, 24)
        pattern = ((x * count) % 1 < 0.4) * 0.5 + ((y * count) % 1 < 0.4) * 0.5
    elif 0.74 <= kind < 0.82:  # dots
        count = rng.integers(4, 24)
        pattern = ((x * count) % 1 - 0.5) ** 2 + ((y * count) % 1 - 0.5) ** 2 < 0.06
    elif kind >= 0.82:  # spots
        pattern = np.clip(resized_noise(rng, rng.integers(4, 40), side, side) * rng.uniform(0.5, 4) + 0.5, 0, 1)
    fabric = first + (second - first) * pattern[..., None]
    folds = resized_noise(rng, 24, side, side)[..., None]
    grain = 1 + 0.07 * folds * rng.uniform(0, 1.5)
    return (np.clip(fabric * grain + rng.normal(0, 0.03 * rng.random(), (side, side, 1)), 0, 1) * 255).astype(np.uint8)


def make_background(rng, fabrics, backgrounds):
    """HEIGHT × WIDTH × 3, 0 to 1."""
    kind = rng.random()
    if kind > 0.6:
        image = take_background(rng, backgrounds)
    elif kind < 0.08:
        colour = np.clip(rng.beta(2, 1) + rng.normal(0, 0.03, 3), 0, 1).astype(np.float32)
        image = (
            np.ones((HEIGHT, WIDTH, 3), np.float32) * colour * np.linspace(rng.uniform(0.8, 1), 1, HEIGHT, dtype=np.float32)[:, None, None]
        )
    elif kind < 0.25:
        image = paint_clutter(rng)
    else:
        image = paint_street(rng)
    if kind <= 0.6 and rng.random() < 0.4:
        image = add_posters(rng, image, fabrics)
    for _ in range(2):
        noise = resized_noise(rng, rng.integers(3, 60), WIDTH, HEIGHT)
        image = image * (1 + rng.uniform(0, 0.14) * noise[..., None])
    image = np.clip(image, 0, 1)
    radius = rng.choice([0, rng.uniform(0.3, 2), rng.uniform(2, 6)])
    if radius:
        image = np.asarray(to_picture(image).filter(ImageFilter.GaussianBlur(float(radius))), np.float32) / 255
    return image


def to_picture(image):
    return Image.fromarray((image * 255).astype(np.uint8))


def take_background(rng, backgrounds):
    image = backgrounds[rng.integers(len(backgrounds))]
    image = image[:, ::-1] if rng.random() < 0.5 else image
    image = image.astype(np.float32) / 255 * rng.uniform(0.8, 1.15)
    if rng.random() < 0.35:
        floor = backgrounds[rng.integers(len(backgrounds))].astype(np.float32) / 255
        horizon = rng.integers(60, 330)
        image = np.concatenate([image[:horizon], floor[horizon:]])
    return image


def add_posters(rng, image, fabrics):
    image = image.copy()
    for _ in range(rng.integers(1, 5)):
        poster = Image.fromarray(fabrics[rng.integers(len(fabrics))])
        width, height = int(rng.uniform(0.2, 1) * WIDTH), int(rng.uniform(0.1, 0.6) * HEIGHT)
        poster = np.asarray(poster.resize((width, height)), np.float32) / 255
        x, y = rng.integers(0, WIDTH - width + 1), rng.integers(0, HEIGHT - height + 1)
        share = rng.uniform(0.3, 1)
        part = image[y : y + height, x : x + width]
        part[:] = part * (1 - share) + poster * share
    return image


def paint_clutter(rng):
    """Rectangles and ellipses of all sizes over each other."""
    picture = Image.new("RGB", (WIDTH, HEIGHT), tuple(int(value) for value in rng.integers(0, 255, 3)))
    draw = ImageDraw.Draw(picture)
    palette = np.clip(rng.random((6, 3)) * rng.uniform(0.3, 1) + rng.uniform(0, 0.3), 0, 1)
    for _ in range(rng.integers(20, 260)):
        radius = min(0.5 * WIDTH, 8 / (rng.random() + 0.02) ** 0.8)
        x, y = rng.random() * WIDTH, rng.random() * HEIGHT
        colour = tuple(int(value) for value in np.clip(palette[rng.integers(6)] * 255 + rng.normal(0, 18, 3), 0, 255))
        ratio = rng.uniform(0.3, 2)
        shape = draw.rectangle if rng.random() < 0.5 else draw.ellipse
        shape((x - radius * ratio, y - radius / ratio, x + radius * ratio, y + radius / ratio), fill=colour)
    return np.asarray(picture, np.float32) / 255


def paint_street(rng):
    """A wall with bricks or windows, a floor, things in front of the wall, and lines on the floor."""
    horizon = int(HEIGHT * rng.uniform(0.25, 0.85))
    image = np.zeros((HEIGHT, WIDTH, 3), np.float32)
    wall = np.clip(rng.uniform(0.2, 0.95) + rng.normal(0, 0.06, 3), 0, 1)
    floor = np.clip(rng.uniform(0.2, 0.85) + rng.normal(0, 0.05, 3), 0, 1)
    image[:horizon] = wall * np.linspace(rng.uniform(0.7, 1.2), rng.uniform(0.7, 1.2), horizon)[:, None, None]
    image[horizon:] = floor * np.linspace(rng.uniform(0.6, 1.1), rng.uniform(0.8, 1.2), HEIGHT - horizon)[:, None, None]
    picture = to_picture(np.clip(image, 0, 1))
    draw = ImageDraw.Draw(picture)

    def colour(spread=30.0):
        return tuple(int(value) for value in np.clip(rng.random() * 200 + rng.normal(0, spread, 3) + 20, 0, 255))

    paint_wall(rng, draw, horizon, colour)
    for _ in range(rng.integers(0, 16)):
        x, y = rng.random() * WIDTH, horizon + rng.normal(0, HEIGHT * 0.06)
        width, height, kind = rng.uniform(5, 110), rng.uniform(8, 220), rng.random()
        if kind < 0.5:
            draw.rectangle((x, y - height, x + width, y), fill=colour())
        elif kind < 0.75:
            draw.ellipse((x, y - width * 0.5, x + width, y), fill=colour())
        else:
            draw.line((x, y - height, rng.random() * WIDTH, y), fill=colour(), width=int(rng.integers(1, 9)))
    if rng.random() < 0.5:  # trees, and people far off
        base = colour(15.0)
        for _ in range(rng.integers(10, 120)):
            radius, x, y = rng.uniform(3, 28), rng.random() * WIDTH, rng.random() * horizon
            leaf = tuple(int(np.clip(value + rng.normal(0, 25), 0, 255)) for value in base)
            draw.ellipse((x - radius, y - radius, x + radius, y + radius), fill=leaf)
    if rng.random() < 0.4:
        for _ in range(rng.integers(2, 10)):
            near, far = rng.random(2) * WIDTH * 2 - WIDTH / 2
            draw.line((near, HEIGHT, far, horizon), fill=colour(), width=int(rng.integers(1, 5)))
    return np.asarray(picture, np.float32) / 255


def paint_wall(rng, draw, horizon, colour):
    kind = rng.random()
    if kind < 0.3:
        length, joint = rng.uniform(15, 60), colour()
        for y in np.arange(0, horizon, length * 0.5):
            draw.line((0, y, WIDTH, y), fill=joint)
        for y in np.arange(0, horizon, length * 0.5):
            for x in np.arange((y // (length * 0.5) % 2) * length / 2, WIDTH, length):
                draw.line((x, y, x, y + length * 0.5), fill=joint)
    elif kind < 0.6:
        length, glass = rng.uniform(30, 110), colour()
        for y in np.arange(5, horizon - 20, length):
            for x in np.arange(rng.uniform(-20, 20), WIDTH, length * rng.uniform(0.8, 1.3)):
                draw.rectangle((x, y, x + length * 0.5, y + length * 0.7), fill=glass)
