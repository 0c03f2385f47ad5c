import { DrapeError } from '../../../api/shared/contract/errors.ts'
import type { Rectangle } from '../../../api/shared/image/image.ts'
import type { Tensor } from '../../inference/session.ts'
import type { Bytes } from '../../vision/raster/bytes.ts'

/** Converts a bitmap to 1 × channels × height × width from −1 to 1. */
export function toTensor({ width, height, channels, data }: Bytes): Tensor {
  const out = new Float32Array(data.length)
  const pixels = width * height
  for (let i = 0, from = 0; i < pixels; i++) {
    for (let c = 0; c < channels; c++, from++) out[c * pixels + i] = data[from] / 127.5 - 1
  }
  return { shape: [1, channels, height, width], data: out }
}

/** Concatenates tensors of the same shape along the first dimension. */
export function joinTensors(tensors: readonly Tensor[]): Tensor {
  const [{ shape, data }] = tensors
  const out = new Float32Array(data.length * tensors.length)
  for (const [i, tensor] of tensors.entries()) out.set(tensor.data, i * data.length)
  return { shape: [shape[0] * tensors.length, ...shape.slice(1)], data: out }
}

/** The rows `from` to `from + count` of the first dimension. Shares the memory. */
export function sliceTensor({ shape, data }: Tensor, from: number, count: number): Tensor {
  const size = data.length / shape[0]
  return { shape: [count, ...shape.slice(1)], data: data.subarray(from * size, (from + count) * size) }
}

/**
 * Converts a sample of 1 × 3 × height × width to bytes, cropped to `place`. Clips values to −1 to 1 and truncates them to bytes in 32
 * bits, as the published sampler does.
 */
export function toBitmap({ shape, data }: Tensor, place: Rectangle): Bytes {
  const [, channels, height, width] = shape
  const pixels = width * height
  const out = new Uint8Array(place.width * place.height * channels)
  for (let y = 0, to = 0; y < place.height; y++) {
    for (let x = 0; x < place.width; x++) {
      const from = (place.y + y) * width + place.x + x
      for (let c = 0; c < channels; c++, to++) out[to] = truncateToByte(data[from + c * pixels])
    }
  }
  return { width: place.width, height: place.height, channels, data: out }
}

function truncateToByte(value: number): number {
  const clipped = Math.min(1, Math.max(-1, value))
  return Math.trunc(Math.fround(Math.fround(Math.fround(clipped + 1) * 0.5) * 255))
}

/** @throws RESULT_REJECTED if the tensor contains NaN or Infinity. */
export function assertNumbers({ data }: Tensor): void {
  // A plain loop: `every` takes ten times as long for the values of an image.
  for (let i = 0; i < data.length; i++) {
    if (!Number.isFinite(data[i]))
      throw new DrapeError('RESULT_REJECTED', 'The model returned values that are not numbers.')
  }
}
