/** What the header of a JPEG, PNG or WebP says about the memory that its decoder needs. */
export interface StoredImage {
  readonly format: 'jpeg' | 'png' | 'webp'
  readonly width: number
  readonly height: number
  readonly channels: number
  readonly bytesPerSample: 1 | 2
  /** A progressive JPEG, one of several scans, or an interlaced PNG. */
  readonly isProgressive: boolean
  readonly hasAlpha: boolean
  readonly isAnimated: boolean
  /** Turned upright by its EXIF orientation. */
  readonly isTurned: boolean
  /** Stored samples per pixel of a JPEG, all components together: 1.5 with the usual chroma subsampling. */
  readonly samplesPerPixel: number
  /** A WebP with lossless parts. */
  readonly isLossless: boolean
  readonly fileBytes: number
}

const MEGABYTE = 2 ** 20

/** Of one decoding: buffers of the library, the encoder and the garbage around them. */
const FIXED_BYTES = 20 * MEGABYTE
/** Memory that all images in work may take together in one process, by the estimates below. */
export const DECODING_BYTES = 240 * MEGABYTE
/** Memory of one HEIC: leaves room for two plain photos beside it. */
export const HEIC_BYTES = 140 * MEGABYTE
/** What of it the library and the picture may take; the rest is for the thread and the encoder. */
export const HEIC_LIBRARY_BYTES = 104 * MEGABYTE

/**
 * Bytes of memory that decoding the image into at most `pixels` pixels takes. Most images pass through the decoder row by row;
 * some it has to hold as a whole.
 */
export function decodingBytes(image: StoredImage, pixels: number): number {
  const { channels, bytesPerSample, hasAlpha, isTurned, fileBytes } = image
  const result = Math.min(image.width * image.height, pixels)
  const rows = hasAlpha || isTurned ? result * channels * bytesPerSample : result
  // Pixels with alpha are encoded when the decoder has given its memory back.
  const encoded = hasAlpha ? 2 * result * channels : 0
  return FIXED_BYTES + fileBytes + rows + Math.max(wholeBytes(image), encoded)
}

/** What the decoder holds of the whole stored image. */
function wholeBytes({ format, ...image }: StoredImage): number {
  const pixels = image.width * image.height
  if (format === 'webp') {
    const frames = image.isAnimated ? 2 : 1
    return pixels * (image.channels * frames + (image.isLossless ? 4 : 0) + (image.hasAlpha ? 2 : 0))
  }
  if (!image.isProgressive) return 0
  // A JPEG's coefficients have two bytes each.
  return pixels * (format === 'jpeg' ? 2 * image.samplesPerPixel : image.channels * image.bytesPerSample)
}
