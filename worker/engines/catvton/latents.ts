import type { Session, Tensor } from '../../inference/session.ts'
import { assertNumbers } from '../diffusion/sampler.ts'

/**
 * Latents of pictures, n × 3 × height × width from −1 to 1, as the network works on them: n × 4 × height/8 × width/8. The mean is
 * taken and no chance, so that a product has the same latent every time.
 * @throws RESULT_REJECTED when the encoder returns no numbers
 */
export async function encodePictures(encoder: Session, pictures: Tensor, latentScale: number): Promise<Tensor> {
  const { mean } = await encoder.run({ picture: pictures }, ['mean'])
  assertNumbers(mean)
  return { shape: mean.shape, data: mean.data.map((value) => value * latentScale) }
}

/**
 * The pictures of the persons, −1 to 1 and a little beyond, in samples of person above product.
 * @throws RESULT_REJECTED when the decoder returns no numbers
 */
export async function decodePersons(decoder: Session, sample: Tensor, latentScale: number): Promise<Tensor> {
  const upper = upperHalves(sample)
  const { picture } = await decoder.run({
    latent: { shape: upper.shape, data: upper.data.map((value) => value / latentScale) },
  })
  assertNumbers(picture)
  return picture
}

/** Latents of persons above those of products, n × channels × 2·height × width. */
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

/** A tensor of the same shape that holds zeros. */
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
