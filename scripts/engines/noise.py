"""The initial noise of workers, as described in worker/engines/fashn-vton/noise.ts."""

import math

import numpy as np

MULTIPLIERS = (np.uint64(0xD2511F53), np.uint64(0xCD9E8D57))
KEY_STEPS = (0x9E3779B9, 0xBB67AE85)
ROUNDS = 10
WORD = np.uint64(0xFFFFFFFF)
HALF = np.uint64(32)


def gaussian_noise(shape, *, seed):
    count = math.prod(shape)
    words = philox(-(-count // 4), seed=seed).astype(np.float64)
    radius = np.sqrt(-2 * np.log((words[:, 0::2] + 1) / 2**32))
    angle = 2 * np.pi * words[:, 1::2] / 2**32
    pairs = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=-1)
    return pairs.reshape(-1)[:count].reshape(shape).astype(np.float32)


def philox(blocks, *, seed):
    """Philox4x32-10 of Salmon et al. 2011: blocks × 4 words of 32 bits."""
    counters = [np.arange(blocks, dtype=np.uint64)]
    counters += [np.full(blocks, number, np.uint64) for number in (0, 0, 0)]
    a, b, c, d = counters
    keys = [seed & 0xFFFFFFFF, seed >> 32 & 0xFFFFFFFF]
    for _ in range(ROUNDS):
        first, second = MULTIPLIERS[0] * a, MULTIPLIERS[1] * c
        a, b = second >> HALF ^ b ^ np.uint64(keys[0]), second & WORD
        c, d = first >> HALF ^ d ^ np.uint64(keys[1]), first & WORD
        keys = [(key + step) & 0xFFFFFFFF for key, step in zip(keys, KEY_STEPS, strict=True)]
    return np.stack([a, b, c, d], axis=-1)
