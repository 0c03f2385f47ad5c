/** Properties of a JPEG, PNG or WebP header that determine the memory of its decoder. */
export interface StoredImage {
  readonly format: 'jpeg' | 'png' | 'webp'
  readonly width: number
  readonly height: number
  readonly channels: number
  readonly bytesPerSample: 1 | 2
  /** A progressive JPEG (several scans) or an interlaced PNG. */
  readonly isProgressive: boolean
  readonly hasAlpha: boolean
  readonly isAnimated: boolean
  /** Rotated or mirrored by its EXIF orientation. */
  readonly isTurned: boolean
  /** Stored samples per pixel of a JPEG over all components: 1.5 with the usual chroma subsampling. */
  readonly samplesPerPixel: number
  /** A WebP with lossless parts. */
  readonly isLossless: boolean
  readonly fileBytes: number
}

const MEGABYTE = 2 ** 20

/** Per decoding: buffers of the library, the encoder and garbage. */
const FIXED_BYTES = 20 * MEGABYTE
/** Memory budget of all concurrent decodings in one process, by the estimates below. */
export const DECODING_BYTES = 240 * MEGABYTE
/** Memory budget of one HEIC. Leaves room for 2 concurrent photos of other formats. */
export const HEIC_BYTES = 140 * MEGABYTE
/** Share of that budget for the library and the bitmap; the rest is for the thread and the encoder. */
export const HEIC_LIBRARY_BYTES = 104 * MEGABYTE

/**
 * Estimated bytes that decoding the image into at most `pixels` pixels takes. Decoders stream most images row by row,
 * but hold some as a whole.
 */
export function decodingBytes(image: StoredImage, pixels: number): number {
  const { channels, bytesPerSample, hasAlpha, isTurned, fileBytes } = image
  const result = Math.min(image.width * image.height, pixels)
  const rows = hasAlpha || isTurned ? result * channels * bytesPerSample : result
  // Images with alpha are encoded after the decoder has released its memory.
  const encoded = hasAlpha ? 2 * result * channels : 0
  return FIXED_BYTES + fileBytes + rows + Math.max(wholeBytes(image), encoded)
}

/** Bytes that the decoder holds for the whole stored image. */
function wholeBytes({ format, ...image }: StoredImage): number {
  const pixels = image.width * image.height
  if (format === 'webp') {
    const frames = image.isAnimated ? 2 : 1
    return pixels * (image.channels * frames + (image.isLossless ? 4 : 0) + (image.hasAlpha ? 2 : 0))
  }
  if (!image.isProgressive) return 0
  // JPEG coefficients take 2 bytes each.
  return pixels * (format === 'jpeg' ? 2 * image.samplesPerPixel : image.channels * image.bytesPerSample)
}
