"""How well a parser labels photos of clothing-co-parsing, which it never saw, and rendered pictures.

The data set: https://github.com/bearpaw/clothing-co-parsing; its photos are only measured, nothing is trained on them.
"""

import itertools

import numpy as np
from PIL import Image
from scipy.io import loadmat
from scipy.ndimage import binary_dilation
from scipy.spatial.distance import cdist
from scipy.special import softmax

import guides
from guides import HEIGHT, IGNORED, STRIDE, WIDTH, Label, crop, draw_guides, find_box, find_pose, locate

PHOTOS = 1004
# Labels of the data set by ours; all others are accessories.
NAMES = {
    Label.BACKGROUND: "null",
    Label.HAIR: "hair",
    Label.TOP: "shirt t-shirt top blouse sweater sweatshirt hoodie bra",
    Label.OUTER: "blazer cape cardigan coat jacket suit vest",
    Label.BOTTOM: "jeans leggings pants shorts panties",
    Label.SKIRT: "skirt",
    Label.DRESS: "dress romper jumper bodysuit swimwear",
    Label.SHOES: "boots clogs flats heels loafers pumps sandals shoes sneakers wedges",
    Label.LEGS: "socks stockings tights",
    IGNORED: "intimate",
}
# The data set has one label for all skin.
SKIN = 100
NAMES[SKIN] = "skin"
AGREEING = (Label.LEGS, Label.TOP, Label.OUTER, Label.BOTTOM, Label.SKIRT, Label.DRESS, Label.SHOES, Label.ACCESSORY)
GROUPS = {label.name.lower(): (label,) for label in Label} | {
    "top+outer": (Label.TOP, Label.OUTER),
    "bottom+skirt": (Label.BOTTOM, Label.SKIRT),
    "skin": (Label.FACE, Label.NECK, Label.ARMS, Label.LEGS),
    "clothes": (Label.TOP, Label.OUTER, Label.BOTTOM, Label.SKIRT, Label.DRESS),
}


def measure(parser, samples):
    """Print the intersection over union by label, of `samples`: crop, guides, box in px of the photo, and true labels."""
    halves = np.zeros((2, len(Label), len(Label)))
    for number, (picture, maps, box, truth) in enumerate(samples):
        image = np.asarray(picture, np.float32).transpose(2, 0, 1)[None] / 255
        logits = parser.run(["labels"], {"image": image, "guides": maps[None]})[0][0]
        shares = agree(softmax(logits, 0), to_cells(image[0], STRIDE))
        found = place(with_mask(np.log(shares + 1e-9), maps[0]), box, truth.shape)
        known = truth < len(Label)
        pairs = truth[known].astype(int) * len(Label) + found[known]
        halves[number % 2] += np.bincount(pairs, minlength=halves[0].size).reshape(halves[0].shape)

    def share(confusion, *labels):
        both = confusion[np.ix_(labels, labels)].sum()
        return both / max(confusion[labels, :].sum() + confusion[:, labels].sum() - both, 1)

    everything = halves.sum(0)
    mean, tuned, held_out = (np.mean([share(part, label) for label in Label]) for part in (everything, *halves))
    print(f"mean {mean:.3f}; {tuned:.3f} where choices were made, {held_out:.3f} of the others")
    print(*(f"{name} {share(everything, *labels):.3f}" for name, labels in GROUPS.items()))


def to_cells(values, side):
    """Means of side × side of the last two dimensions."""
    *others, height, width = values.shape
    return values.reshape(*others, height // side, side, width // side, side).mean((-3, -1))


def agree(shares, colours):
    """Shares of labels; AGREEING agree among cells of like colours (0 to 1, 3 × rows × columns). As worker/vision/person/agree.ts."""
    before = agreed = shares[list(AGREEING)]
    total = before.sum(0)

    def features(is_worn, colours, side):
        rows, columns = np.where(is_worn)
        return np.column_stack([(columns + 0.5) * side / 24, (rows + 0.5) * side / 24, colours[:, is_worn].T / 0.04])

    is_worn, is_heard = total > 0.1, to_cells(total, 4) > 0.1
    unlike = cdist(features(is_heard, to_cells(colours, 4), 4), features(is_worn, colours, 1), "sqeuclidean") / 2
    weights = np.where(unlike > 5, 0, np.exp(-unlike))
    for _ in range(2):
        heard = to_cells(agreed, 4)[:, is_heard] @ weights
        found = before[:, is_worn] * np.maximum(heard / (heard.sum(0) + 1e-9), 0.01)
        agreed = before.copy()
        agreed[:, is_worn] = found / found.sum(0) * total[is_worn]
    return np.stack([agreed[AGREEING.index(label)] if label in AGREEING else shares[label] for label in Label])


def with_mask(logits, mask):
    """The person mask of the pose network makes background more likely outside of it, and certain far outside."""
    logits = logits.copy()
    near = binary_dilation(mask > 0.3, iterations=9)
    logits[Label.BACKGROUND] += np.where(near, 0, 9) + 0.35 * np.clip(np.log((1 - mask + 0.02) / (mask + 0.02)), -4, 4)
    return logits


def place(logits, box, shape):
    """Labels of the photo of this height and width, from logits of its box; background outside."""
    _, rows, columns = logits.shape
    left, top, right, bottom = box
    x = (np.arange(shape[1]) + 0.5 - left) / (right - left) * columns - 0.5
    y = (np.arange(shape[0]) + 0.5 - top) / (bottom - top) * rows - 0.5
    column, row = np.clip(np.floor(x).astype(int), 0, columns - 2), np.clip(np.floor(y).astype(int), 0, rows - 2)
    across, down = np.clip(x - column, 0, 1).astype(np.float32), np.clip(y - row, 0, 1).astype(np.float32)[None, :, None]
    logits = logits[:, row] * (1 - down) + logits[:, row + 1] * down
    labels = (logits[:, :, column] * (1 - across) + logits[:, :, column + 1] * across).argmax(0)
    labels[(y < -0.5) | (y > rows - 0.5)] = Label.BACKGROUND
    labels[:, (x < -0.5) | (x > columns - 0.5)] = Label.BACKGROUND
    return labels


def rendered_samples(file):
    arrays = np.load(file)
    for picture, maps, truth in zip(arrays["pictures"], arrays["guides"], arrays["labels"]):
        yield picture, maps.astype(np.float32), (0, 0, WIDTH, HEIGHT), truth


def photo_samples(folder, count, detector, heavy, landmarks):
    """The first `count` of the photos in a random order, always the same; `heavy` finds the person and divides its skin."""
    numbers = [f"{number:04d}" for number in range(1, PHOTOS + 1)]
    np.random.default_rng(7).shuffle(numbers)
    names = [str(name[0]) for name in loadmat(folder / "label_list.mat")["label_list"][0]]
    known = {name: label for label, names in NAMES.items() for name in names.split()}
    mapping = np.array([known.get(name, Label.ACCESSORY) for name in names], np.uint8)
    for number in sorted(numbers[:count]):
        photo = Image.open(folder / f"photos/{number}.jpg").convert("RGB")
        truth = mapping[loadmat(folder / f"annotations/pixel-level/{number}.mat")["groundtruth"]]
        pose = find_pose(photo, detector, heavy)
        seen = locate(photo, pose.region, landmarks)
        box = find_box(seen)
        # Guides are stored in 16 bits for training.
        yield crop(photo, box), draw_guides(seen, box).astype(np.float16).astype(np.float32), box, divide_skin(truth, pose.points[:, :2])


def divide_skin(truth, points):
    """Labels with the face, neck and chest, arms and legs instead of skin, by the nearest bone; the face is what is above the chin."""
    rows, columns = np.where(truth == SKIN)
    pixels = np.stack([columns, rows], 1).astype(float)

    def middle(landmarks):
        return points[list(landmarks)].mean(0)

    def distance(start, end):
        way = end - start
        share = np.clip((pixels - start) @ way / max(way @ way, 1e-6), 0, 1)
        return np.hypot(*(pixels - start - share[:, None] * way).T)

    def nearest(*chains):
        return np.min([distance(points[a], points[b]) for chain in chains for pair in itertools.pairwise(chain) for a, b in zip(*pair)], 0)

    shoulders, hips, mouth = middle(guides.SHOULDERS), middle(guides.HIPS), middle(guides.MOUTH)
    up = middle(guides.EYES) - mouth
    face, torso = np.hypot(*up) + 1e-6, np.hypot(*(shoulders - hips))
    up = up / face
    over_chin = (pixels - mouth) @ up + max(0.75 * face, 0.035 * torso)
    is_face = (over_chin > 0) & (np.hypot(*(pixels - points[:11].mean(0)).T) < max(3.2 * face, 0.35 * torso))
    hands = [
        distance(points[wrist], points[wrist] + 1.6 * (points[finger] - points[wrist]))
        for wrist, finger in zip(guides.WRISTS, guides.INDEX_FINGERS)
    ]
    arms = np.min([nearest((guides.SHOULDERS, guides.ELBOWS, guides.WRISTS)), *hands], 0)
    legs = nearest((guides.HIPS, guides.KNEES, guides.ANKLES, guides.TOES), (guides.ANKLES, guides.HEELS))
    across = [shoulders + 0.75 * (points[k] - shoulders) for k in guides.SHOULDERS]
    trunk = np.min([distance(shoulders, mouth), distance(shoulders, hips) - 0.06 * torso, distance(*across) - 0.03 * torso], 0)
    parts = np.array([Label.ARMS, Label.LEGS, Label.NECK])[np.argmin([arms, legs, trunk], 0)]
    divided = truth.copy()
    divided[rows, columns] = np.where(is_face, Label.FACE, parts)
    return divided
