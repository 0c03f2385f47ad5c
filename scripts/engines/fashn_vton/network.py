"""The transformer of FASHN VTON: from patches and modulation vectors to a velocity.

Shapes: rows × tokens × channels. The sum that runs through all blocks (the stream) is 32-bit, with its norms and gates:
the weights were trained in bfloat16, whose range 16-bit floats lack. The rest is in the graph's precision.
"""

import numpy as np

from ..graph import CONTRIB
from .configuration import modulations

EPSILON = 1e-6


class Network:
    def __init__(self, graph, checkpoint, configuration):
        self.g, self.checkpoint, self.c = graph, checkpoint, configuration
        self.width = configuration.hidden_size

    def embed(self, image, key, part, *, bias):
        """Image, rows × channels × height × width → stream. `part` selects the layer's channels for the image."""
        g, patch = self.g, self.c.patch_size
        weights = [
            g.weight(f"{key}.proj.weight.{part.start}", lambda: self.checkpoint.read(f"{key}.proj.weight")[:, part])
        ]
        if bias:
            weights.append(self.weight(f"{key}.proj.bias"))
        patches = g.op("Conv", g.working(image), *weights, kernel_shape=[patch, patch], strides=[patch, patch])
        flat = g.op("Reshape", patches, g.integers(0, self.width, self.c.tokens))
        return g.exact(g.op("Transpose", flat, perm=[0, 2, 1]))

    def velocity(self, image, garment, modulation):
        """Streams of image and garment, modulation rows × vectors → velocity, rows × channels × height × width."""
        g, c = self.g, self.c
        vectors = self.split_modulation(modulation)
        for i in range(c.patch_mixer_depth):
            image = self.single(image, vectors, f"x_patch_mixer.{i}", copies=1)
        for i in range(c.double_blocks_depth):
            image, garment = self.double(image, garment, vectors, f"double_blocks.{i}")
        joined = g.op("Concat", garment, image, axis=1)
        for i in range(c.single_blocks_depth):
            last = i == c.single_blocks_depth - 1
            joined = self.single(joined, vectors, f"single_blocks.{i}", copies=2, image_only=last)
        shift, scale = vectors["final_layer.adaLN_modulation.1"]
        patches = self.linear(self.modulate(joined, shift, scale), "final_layer.linear")
        return self.unpatch(g.op("Identity", g.exact(patches), name="final_layer"))

    def split_modulation(self, modulation):
        """Layer → its vectors, each rows × 1 × channels. Scales already include the added 1."""
        g, layers = self.g, modulations(self.c)
        count = sum(layers.values())
        rows = g.op("Unsqueeze", modulation, g.integers(1))
        vectors = iter(g.op("Split", rows, g.integers(*[self.width] * count), outputs=count, axis=-1))
        return {layer: [next(vectors) for _ in range(parts)] for layer, parts in layers.items()}

    def single(self, stream, vectors, key, *, copies, image_only=False):
        """One block on one sequence. With `image_only` returns only the image's tokens, the second half."""
        g, width = self.g, self.width
        shift, scale, gate = vectors[f"{key}.modulation.lin"]
        seen = self.modulate(stream, shift, scale)
        asking = self.second_half(seen) if image_only else seen
        stream = self.second_half(stream) if image_only else stream
        rows = {name: slice(i * width, (i + 1) * width) for i, name in enumerate("qkv")} | {
            "mlp": slice(3 * width, None)
        }
        q, inner = (self.linear(asking, f"{key}.linear1", rows=rows[name], part=name) for name in ("q", "mlp"))
        k, v = (self.linear(seen, f"{key}.linear1", rows=rows[name], part=name) for name in "kv")
        q = self.rotate(self.normalize(q, f"{key}.norm.query_norm"), copies=1 if image_only else copies)
        k = self.rotate(self.normalize(k, f"{key}.norm.key_norm"), copies=copies)
        attended = self.attend(q, k, v)
        # Two products instead of one over the concatenated parts, which would require a copy.
        sums = g.op(
            "Add",
            self.multiply(attended, f"{key}.linear2", columns=slice(0, width), part="attention"),
            self.linear(self.gelu(inner), f"{key}.linear2", columns=slice(width, None), part="mlp"),
        )
        return self.add_gated(stream, gate, sums, name=key)

    def double(self, image, garment, vectors, key):
        """One block on both sequences, which attend to each other: garment first, then image."""
        g, tokens = self.g, self.c.tokens
        streams = {"txt": garment, "img": image}
        parts = {s: vectors[f"{key}.{s}_mod.lin"] for s in streams}
        heads = [self.heads(streams[s], parts[s], f"{key}.{s}_attn") for s in streams]
        q, k, v = (g.op("Concat", *pair, axis=1) for pair in zip(*heads, strict=True))
        attended = self.attend(self.rotate(q, copies=2), self.rotate(k, copies=2), v)
        halves = dict(zip(streams, g.op("Split", attended, g.integers(tokens, tokens), outputs=2, axis=1), strict=True))
        done = {}
        for s, stream in streams.items():
            _, _, gate1, shift2, scale2, gate2 = parts[s]
            stream = self.add_gated(stream, gate1, self.linear(halves[s], f"{key}.{s}_attn.proj"))
            inner = self.gelu(self.linear(self.modulate(stream, shift2, scale2), f"{key}.{s}_mlp.0"))
            done[s] = self.add_gated(stream, gate2, self.linear(inner, f"{key}.{s}_mlp.2"), name=f"{key}.{s}")
        return done["img"], done["txt"]

    def heads(self, stream, vectors, key):
        """Queries and keys, normalised, and values of one stream of a double block."""
        width = self.width
        seen = self.modulate(stream, vectors[0], vectors[1])
        q, k, v = (
            self.linear(seen, f"{key}.qkv", rows=slice(i * width, (i + 1) * width), part=name)
            for i, name in enumerate("qkv")
        )
        return self.normalize(q, f"{key}.norm.query_norm"), self.normalize(k, f"{key}.norm.key_norm"), v

    def attend(self, q, k, v):
        return self.g.op("MultiHeadAttention", q, k, v, domain=CONTRIB, num_heads=self.c.n_heads)

    def normalize(self, value, key):
        """Root mean square of each head."""
        g, c = self.g, self.c
        heads = g.op("Reshape", value, g.integers(0, 0, c.n_heads, c.head_size))
        scale = self.weight(f"{key}.scale")
        normed = g.op("SimplifiedLayerNormalization", heads, scale, axis=-1, epsilon=EPSILON, stash_type=1)
        return g.op("Reshape", normed, g.integers(0, 0, self.width), name=key)

    def rotate(self, value, *, copies):
        """Rotates neighbouring channels of each head by the angles of the token's position, the same in both sequences."""
        g = self.g
        cosines = g.weight(f"cosines_of_places_{copies}", lambda: np.cos(angles(self.c, copies)))
        sines = g.weight(f"sines_of_places_{copies}", lambda: np.sin(angles(self.c, copies)))
        places = (g.integers(0), cosines, sines)
        return g.op(
            "RotaryEmbedding",
            value,
            *places,
            name=f"{value}.turned",
            domain=CONTRIB,
            interleaved=1,
            num_heads=self.c.n_heads,
        )

    def modulate(self, stream, shift, scale):
        g = self.g
        ones, zeros = (g.constant(np.full(self.width, value, np.float32)) for value in (1, 0))
        normed = g.op("LayerNormalization", stream, ones, zeros, axis=-1, epsilon=EPSILON)
        return g.working(g.op("Add", g.op("Mul", normed, scale), shift))

    def add_gated(self, stream, gate, value, name=None):
        g = self.g
        return g.op("Add", stream, g.op("Mul", gate, g.exact(value)), name=name)

    def gelu(self, value):
        return self.g.op("FastGelu", value, domain=CONTRIB)

    def second_half(self, value):
        g, tokens = self.g, self.c.tokens
        return g.op("Slice", value, g.integers(tokens), g.integers(2 * tokens), g.integers(1))

    def linear(self, value, key, *, rows=slice(None), columns=slice(None), part=""):
        """A layer, or the `rows` (outputs) and `columns` (inputs) of its part `part`."""
        bias = self.g.weight(f"{key}.bias.{part}", lambda: self.checkpoint.read(f"{key}.bias")[rows])
        return self.g.op("Add", self.multiply(value, key, rows=rows, columns=columns, part=part), bias)

    def multiply(self, value, key, *, rows=slice(None), columns=slice(None), part=""):
        load = lambda: self.checkpoint.read(f"{key}.weight")[rows, columns].T  # noqa: E731
        return self.g.op("MatMul", value, self.g.weight(f"{key}.weight.{part}", load))

    def weight(self, key):
        return self.g.weight(key, lambda: self.checkpoint.read(key))

    def unpatch(self, patches):
        """Tokens of channel-major patches → images."""
        g, c = self.g, self.c
        (rows, columns), channels, patch = c.grid, c.channels_in, c.patch_size
        apart = g.op("Reshape", patches, g.integers(-1, rows, columns, channels, patch, patch))
        placed = g.op("Transpose", apart, perm=[0, 3, 1, 4, 2, 5])
        return g.op("Reshape", placed, g.integers(-1, channels, *c.input_shape))


def angles(c, copies=1):
    """Rotation of each token's channel pairs in radians: tokens × half a head, repeated.

    The channels of a head are shared out between three axes: the first is always 0, the others are row and column.
    """
    rows, columns = np.divmod(np.arange(c.tokens), c.grid[1])
    places = (np.zeros(c.tokens), rows, columns)
    waves = [c.theta ** (-np.arange(0, size, 2) / size) for size in c.axes_dim]
    turns = np.concatenate([np.outer(place, wave) for place, wave in zip(places, waves, strict=True)], axis=1)
    return np.tile(turns, (copies, 1))
