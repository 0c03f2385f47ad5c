"""The golden drawing of a worker's self-test with these graphs: from black images, a guided step and an unguided one."""

import math

import numpy as np

from ..golden import Graphs
from ..noise import gaussian_noise

STEPS = 2
SEED = 1


def draw_golden(path, manifest):
    graphs = Graphs(path)
    sampling, categories = manifest["sampling"], manifest["categories"]
    shape = (1, 3, manifest["size"]["height"], manifest["size"]["width"])
    # A black image, and no image.
    images = np.concatenate([np.full(shape, -1.0), np.zeros(shape)])
    tokens = {
        "person_tokens": graphs.run("person", person=images, person_pose=images[:, :1]),
        "garment_tokens": graphs.run("garment", garment=images, garment_pose=images[:, :1]),
    }
    times = flow_times(STEPS, sampling["schedule"]["shift"])
    modulation = graphs.run(
        "modulation", time=np.repeat(times[:-1], 2), category=[categories["tops"], categories["none"]] * STEPS
    ).reshape(STEPS, 2, -1)
    sample = gaussian_noise(shape, seed=SEED)
    lengths = np.diff(times)
    for i, length in enumerate(lengths):
        guided = i < STEPS - sampling["unguidedLastSteps"]
        weights = [sampling["guidance"], 1 - sampling["guidance"]] if guided else [1]
        rows = len(weights)
        sample = graphs.run(
            "denoise",
            sample=sample,
            **{name: values[:rows] for name, values in tokens.items()},
            modulation=modulation[i : i + 1, :rows],
            row_condition=range(rows),
            step_weights=[[length * weight for weight in weights]],
        )
    return sample


def flow_times(steps, shift):
    a = math.exp(-shift)
    return np.array([0.0] + [a / (a + steps / k - 1) for k in range(1, steps + 1)])
