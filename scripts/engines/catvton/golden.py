"""The golden drawing of a worker's self-test with these graphs: the middle of a black image, in two steps."""

import numpy as np

from ..golden import Graphs
from ..noise import gaussian_noise
from .sampler import draw

STEPS = 2
SEED = 1


def draw_golden(path, manifest):
    graphs = Graphs(path)
    height, width = manifest["size"]["height"], manifest["size"]["width"]
    black = np.full((1, 3, height, width), -1, np.float32)
    mask = np.zeros((1, 1, height, width), np.float32)
    mask[:, :, height // 4 : height // 2] = 1
    return draw(graphs, manifest, person=black, mask=mask, garment=black, steps=STEPS, noise=seeded(manifest))[-1]


def seeded(manifest, seed=SEED):
    shape = (1, 4, 2 * manifest["size"]["height"] // 8, manifest["size"]["width"] // 8)
    return lambda stream: gaussian_noise(shape, seed=seed, stream=stream)
