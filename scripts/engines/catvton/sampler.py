"""The sampler from noise to image, in NumPy."""

import numpy as np


def draw(graphs, manifest, *, person, mask, garment, steps, noise):
    """Yields the sample after each step, and finally the image.

    `person`, `mask` and `garment` are on the canvas, `noise` a function of the number of the stream.
    """
    scale, sampling = manifest["latentScale"], manifest["sampling"]
    upper = graphs.run("encoder", picture=person * (mask < 0.5)) * scale
    lower = graphs.run("encoder", picture=garment) * scale
    cells = mask[:, :, ::8, ::8]
    masks = np.concatenate([cells, np.zeros_like(cells)], axis=2)
    conditions = [np.concatenate([upper, below], axis=2) for below in (np.zeros_like(lower), lower)]
    sample, samples = noise(0), []
    for i, (time, alpha, after) in enumerate(ddim_alphas(sampling["schedule"], steps)):
        rows = [np.concatenate([sample, masks, condition], axis=1) for condition in conditions]
        plain, guided = np.split(graphs.run("denoiser", sample=np.concatenate(rows), time=[time, time]), 2)
        seen = plain + np.float32(sampling["guidance"]) * (guided - plain)
        sample = ddim_step(sample, seen, noise(i + 1), alpha=alpha, after=after, eta=sampling["eta"])
        samples.append(sample)
    latent = np.split(sample, 2, axis=2)[0] / scale
    return [*samples, graphs.run("decoder", latent=latent)]


def ddim_step(sample, seen, fresh, *, alpha, after, eta):
    """Equation 12 of Song, Meng and Ermon 2021: the predicted image, the direction to the sample, fresh noise."""
    deviation = eta * np.sqrt((1 - after) / (1 - alpha)) * np.sqrt(1 - alpha / after)
    image = (sample - np.sqrt(1 - alpha) * seen) / np.sqrt(alpha)
    direction = np.sqrt(1 - after - deviation**2) * seen
    return (np.sqrt(after) * image + direction + deviation * fresh).astype(np.float32)


def ddim_alphas(schedule, steps):
    """Per step: the timestep input of the network, and the signal's share of the variance at and after the step."""
    count = schedule["trainingSteps"]
    betas = np.linspace(schedule["betaStart"] ** 0.5, schedule["betaEnd"] ** 0.5, count) ** 2
    alphas = np.cumprod(1 - betas)
    length = count // steps
    times = (np.arange(steps) * length)[::-1] + schedule["offset"]
    last = 1.0 if schedule["finalAlphaIsOne"] else alphas[0]
    return [(time, alphas[time], alphas[time - length] if time >= length else last) for time in times]
