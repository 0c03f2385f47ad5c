"""Layers that the denoising network and the autoencoder share. Shapes: images × channels × height × width."""

import numpy as np

from ..graph import CONTRIB


class Layers:
    def __init__(self, graph, checkpoint, *, groups, epsilon):
        self.g, self.checkpoint, self.groups, self.epsilon = graph, checkpoint, groups, epsilon

    def residual(self, value, key, time=None):
        """Two convolutions, added to the input. `time`, images × channels, is added in between."""
        g = self.g
        inner = self.convolve(self.silu(self.group_norm(value, f"{key}.norm1")), f"{key}.conv1")
        if time is not None:
            shift = self.linear(self.silu(time), f"{key}.time_emb_proj")
            inner = g.op("Add", inner, g.op("Unsqueeze", shift, g.integers(2, 3)))
        inner = self.convolve(self.silu(self.group_norm(inner, f"{key}.norm2")), f"{key}.conv2")
        if f"{key}.conv_shortcut.weight" in self.checkpoint.shapes:
            value = self.convolve(value, f"{key}.conv_shortcut", side=1)
        return g.op("Add", value, inner, name=key)

    def group_norm(self, value, key, epsilon=None):
        """Groups of channels are normalised as one channel each; the weights then act on the channels themselves."""
        g = self.g
        ones, zeros = (g.constant(np.full(self.groups, number, g.dtype)) for number in (1, 0))
        grouped = g.op("Reshape", value, g.integers(0, self.groups, -1))
        normed = g.op("InstanceNormalization", grouped, ones, zeros, epsilon=epsilon or self.epsilon)
        back = g.op("Reshape", normed, g.op("Shape", value))
        weight, bias = (
            self.weight(f"{key}.{kind}", lambda values: values[:, None, None]) for kind in ("weight", "bias")
        )
        return g.op("Add", g.op("Mul", back, weight), bias)

    def convolve(self, value, key, *, side=3, stride=1, pads=None):
        edge = side // 2
        weights = (self.weight(f"{key}.weight"), self.weight(f"{key}.bias"))
        return self.g.op(
            "Conv", value, *weights, kernel_shape=[side] * 2, strides=[stride] * 2, pads=pads or [edge] * 4
        )

    def enlarge(self, value, key):
        """Upscales by 2, then convolves."""
        g = self.g
        scales = g.constant(np.array([1, 1, 2, 2], np.float32))
        larger = g.op(
            "Resize",
            value,
            "",
            scales,
            mode="nearest",
            coordinate_transformation_mode="asymmetric",
            nearest_mode="floor",
        )
        return self.convolve(larger, f"{key}.upsamplers.0.conv")

    def linear(self, value, key, *, bias=True):
        g = self.g
        product = g.op("MatMul", value, self.weight(f"{key}.weight", lambda values: values.T))
        return g.op("Add", product, self.weight(f"{key}.bias")) if bias else product

    def attend(self, tokens, key, *, heads, bias):
        """Self-attention of images × tokens × channels."""
        q, k, v = (self.linear(tokens, f"{key}.{name}", bias=bias) for name in ("to_q", "to_k", "to_v"))
        return self.linear(self.g.op("MultiHeadAttention", q, k, v, domain=CONTRIB, num_heads=heads), f"{key}.to_out.0")

    def to_tokens(self, value):
        """Images × channels × height × width → images × positions × channels."""
        g = self.g
        return g.op("Transpose", g.op("Reshape", value, g.integers(0, 0, -1)), perm=[0, 2, 1])

    def to_image(self, tokens, like):
        """The inverse, in the shape of `like`."""
        g = self.g
        return g.op("Reshape", g.op("Transpose", tokens, perm=[0, 2, 1]), g.op("Shape", like))

    def silu(self, value):
        return self.g.op("Mul", value, self.g.op("Sigmoid", value))

    def weight(self, key, change=lambda values: values):
        return self.g.weight(key, lambda: change(self.checkpoint.read(key)))
