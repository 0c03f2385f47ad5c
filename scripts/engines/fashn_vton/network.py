"""The transformer of FASHN VTON: from patches and modulation vectors to a velocity.

Shapes: rows × tokens × channels. In 16 bits, the sum that runs through all blocks (the stream) and all that is added to it
are smaller by SCALE, which its norms cancel: the weights were trained in bfloat16, whose range 16-bit floats lack.
"""

import numpy as np

from ..graph import CONTRIB
from .configuration import modulations

EPSILON = 1e-6
# A power of two rounds nothing; a much smaller one would push weights out of the range of 16 bits.
SCALE = 2**-6
# A Split with more outputs copies their addresses to the device in every step.
MAX_SPLIT = 32


class Network:
    def __init__(self, graph, checkpoint, configuration):
        self.g, self.checkpoint, self.c = graph, checkpoint, configuration
        self.width = configuration.hidden_size
        self.scale = SCALE if graph.half else 1

    def embed(self, image, key, part, *, bias):
        """Image, rows × channels × height × width → stream. `part` selects the layer's channels for the image."""
        g, patch = self.g, self.c.patch_size
        read = lambda name: self.checkpoint.read(f"{key}.proj.{name}") * self.scale  # noqa: E731
        weights = [g.weight(f"{key}.proj.weight.{part.start}", lambda: read("weight")[:, part])]
        if bias:
            weights.append(g.weight(f"{key}.proj.bias", lambda: read("bias")))
        patches = g.op("Conv", g.working(image), *weights, kernel_shape=[patch, patch], strides=[patch, patch])
        flat = g.op("Reshape", patches, g.integers(0, self.width, self.c.tokens))
        return g.op("Transpose", flat, perm=[0, 2, 1])

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
        g, width, layers = self.g, self.width, modulations(self.c)
        rows, total = g.op("Unsqueeze", g.working(modulation), g.integers(1)), sum(layers.values())
        size = min(total, MAX_SPLIT)
        vectors = {}
        # The last group overlaps: groups side by side would be joined into one Split again.
        for first in [*range(0, total - size, size), total - size]:
            group = g.op("Slice", rows, g.integers(first * width), g.integers((first + size) * width), g.integers(-1))
            split = g.op("Split", group, g.integers(*[width] * size), outputs=size, axis=-1)
            vectors |= zip(range(first, first + size), split, strict=True)
        following = iter(vectors[place] for place in range(total))
        return {layer: [next(following) for _ in range(parts)] for layer, parts in layers.items()}

    def single(self, stream, vectors, key, *, copies, image_only=False):
        """One block on one sequence. With `image_only` returns only the image's tokens, the second half."""
        g, width = self.g, self.width
        shift, scale, gate = vectors[f"{key}.modulation.lin"]
        seen = self.modulate(stream, shift, scale)
        asking = self.second_half(seen) if image_only else seen
        stream = self.second_half(stream) if image_only else stream
        asked = 1 if image_only else copies
        q = self.rotate(self.normalize(asking, f"{key}.linear1", "q", f"{key}.norm.query_norm", asked), copies=asked)
        k = self.rotate(self.normalize(seen, f"{key}.linear1", "k", f"{key}.norm.key_norm", copies), copies=copies)
        v = self.multiply(seen, f"{key}.linear1", rows=self.rows("v"), part="v")
        inner = self.gelu(asking, f"{key}.linear1", rows=self.rows("mlp"), part="mlp")
        attended = self.attend(q, k, v)
        # Two products instead of one over the concatenated parts, which would require a copy.
        sums = g.op(
            "Add",
            self.multiply(attended, f"{key}.linear2", columns=slice(0, width), part="attention", scale=self.scale),
            self.multiply(inner, f"{key}.linear2", columns=slice(width, None), part="mlp", scale=self.scale),
        )
        bias = g.weight(f"{key}.linear2.bias.v", lambda: self.bias_with_values(key))
        return self.add_gated(stream, gate, g.op("Add", sums, bias), name=key)

    def bias_with_values(self, key):
        """The biases of the values and of `linear2` together: attention, a weighted mean, adds the former to its result."""
        read, width = self.checkpoint.read, self.width
        values = read(f"{key}.linear1.bias")[self.rows("v")]
        return (read(f"{key}.linear2.bias") + read(f"{key}.linear2.weight")[:, :width] @ values) * self.scale

    def rows(self, part):
        """Of the weights of a layer that computes queries, keys and values, and in single blocks the inner values."""
        first = ("q", "k", "v", "mlp").index(part) * self.width
        return slice(first, None if part == "mlp" else first + self.width)

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
            stream = self.add_gated(stream, gate1, self.linear(halves[s], f"{key}.{s}_attn.proj", scale=self.scale))
            inner = self.gelu(self.modulate(stream, shift2, scale2), f"{key}.{s}_mlp.0")
            added = self.linear(inner, f"{key}.{s}_mlp.2", scale=self.scale)
            done[s] = self.add_gated(stream, gate2, added, name=f"{key}.{s}")
        return done["img"], done["txt"]

    def heads(self, stream, vectors, key):
        """Queries and keys, normalised, and values of one stream of a double block."""
        seen = self.modulate(stream, vectors[0], vectors[1])
        q = self.normalize(seen, f"{key}.qkv", "q", f"{key}.norm.query_norm", 1)
        k = self.normalize(seen, f"{key}.qkv", "k", f"{key}.norm.key_norm", 1)
        return q, k, self.linear(seen, f"{key}.qkv", rows=self.rows("v"), part="v")

    def attend(self, q, k, v):
        return self.g.op("MultiHeadAttention", q, k, v, domain=CONTRIB, num_heads=self.c.n_heads)

    def normalize(self, value, key, part, norm, copies):
        """The queries or keys that a layer computes, each head divided by its root mean square."""
        g, c, rows = self.g, self.c, self.rows(part)
        product = self.multiply(value, key, rows=rows, part=part)
        heads = g.op("Reshape", product, g.integers(-1, c.n_heads, c.head_size))
        # The norm adds the bias: another operator would read and write all queries once more.
        bias = g.weight(f"{key}.bias.{part}", lambda: self.checkpoint.read(f"{key}.bias")[rows].reshape(c.n_heads, -1))
        scale = self.weight(f"{norm}.scale")
        normed = g.op("SkipSimplifiedLayerNormalization", heads, bias, scale, domain=CONTRIB, epsilon=EPSILON)
        return g.op("Reshape", normed, g.integers(-1, copies * c.tokens, self.width), name=norm)

    def rotate(self, value, *, copies):
        """Rotates neighbouring channels of each head by the angles of the token's position, the same in both sequences."""
        g = self.g
        cosines = g.weight(f"cosines_of_places_{copies}", lambda: np.cos(angles(self.c, copies)))
        sines = g.weight(f"sines_of_places_{copies}", lambda: np.sin(angles(self.c, copies)))
        places = (g.constant(np.zeros(1, np.int64), "device"), cosines, sines)
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
        return self.g.op("LayerNormalization", stream, scale, shift, axis=-1, epsilon=EPSILON * self.scale**2)

    def add_gated(self, stream, gate, value, name=None):
        g = self.g
        return g.op("Add", stream, g.op("Mul", gate, value), name=name)

    def gelu(self, value, key, **part):
        """The GELU of a layer."""
        return self.g.op("FastGelu", self.multiply(value, key, **part), self.bias(key, **part), domain=CONTRIB)

    def second_half(self, value):
        g, tokens = self.g, self.c.tokens
        return g.op("Slice", value, g.integers(tokens), g.integers(2 * tokens), g.integers(1))

    def linear(self, value, key, **part):
        """A layer times `scale`, or the `rows` (outputs) of its part `part`."""
        return self.g.op("Add", self.multiply(value, key, **part), self.bias(key, **part))

    def bias(self, key, *, rows=slice(None), part="", scale=1):
        return self.g.weight(f"{key}.bias.{part}", lambda: self.checkpoint.read(f"{key}.bias")[rows] * scale)

    def multiply(self, value, key, *, rows=slice(None), columns=slice(None), part="", scale=1):
        load = lambda: self.checkpoint.read(f"{key}.weight")[rows, columns].T * scale  # noqa: E731
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
