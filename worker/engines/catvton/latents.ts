import type { Session, Tensor } from '../../inference/session.ts'
import { assertNumbers } from '../diffusion/sampler.ts'

/**
 * Encodes images, n × 3 × height × width from −1 to 1, to latents, n × 4 × height/8 × width/8. Uses the mean of the distribution,
 * so that a product always has the same latent.
 * @throws RESULT_REJECTED if the encoder returns NaN
 */
export async function encodeImages(encoder: Session, images: Tensor, latentScale: number): Promise<Tensor> {
  const { mean } = await encoder.run({ picture: images }, ['mean'])
  assertNumbers(mean)
  return { shape: mean.shape, data: mean.data.map((value) => value * latentScale) }
}

/**
 * Decodes the person half of samples of person above product. Values are −1 to 1 and slightly beyond.
 * @throws RESULT_REJECTED if the decoder returns NaN
 */
export async function decodePersons(decoder: Session, sample: Tensor, latentScale: number): Promise<Tensor> {
  const upper = upperHalves(sample)
  const { picture: images } = await decoder.run({
    latent: { shape: upper.shape, data: upper.data.map((value) => value / latentScale) },
  })
  assertNumbers(images)
  return images
}

/** Stacks latents of persons above latents of products, n × channels × 2·height × width. */
export function stackLatents(upper: Tensor, lower: Tensor): Tensor {
  const [rows, channels, height, width] = upper.shape
  const out = new Float32Array(upper.data.length * 2)
  const size = height * width
  for (let plane = 0; plane < rows * channels; plane++) {
    out.set(upper.data.subarray(plane * size, (plane + 1) * size), 2 * plane * size)
    out.set(lower.data.subarray(plane * size, (plane + 1) * size), (2 * plane + 1) * size)
  }
  return { shape: [rows, channels, 2 * height, width], data: out }
}

/** A tensor of zeros with the same shape. */
export function zerosLike({ shape, data }: Tensor): Tensor {
  return { shape, data: new Float32Array(data.length) }
}

function upperHalves({ shape: [rows, channels, height, width], data }: Tensor): Tensor {
  const size = (height / 2) * width
  const out = new Float32Array(data.length / 2)
  for (let plane = 0; plane < rows * channels; plane++)
    out.set(data.subarray(2 * plane * size, (2 * plane + 1) * size), plane * size)
  return { shape: [rows, channels, height / 2, width], data: out }
}
