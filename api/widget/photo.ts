import { toJson } from '../client/json.ts'
import { Failure } from './failure.ts'
import { recall, remember } from './visit.ts'

/** A chosen photo, which the service may already have. */
export interface Photo {
  readonly file: Blob | null
  readonly imageId: string | null
  /** The part of the photo that try-ons use, once the service has chosen it. */
  readonly viewUrl: string | null
  /** Decoded bitmap for display; null for formats that the browser cannot decode. */
  readonly bitmap: ImageBitmap | null
}

const MAX_BYTES = 10 * 1024 * 1024
/** Limits of the service, in pixels. */
const MAX_PIXELS = 50e6
const MAX_LONG_SIDE = 12_000
const MIN_SIDE = 16
const MAX_ASPECT = 10
/** Maximum side of photos that the service stores. */
const MAX_SIDE = 3000
const QUALITY = 0.92
/** Short side below which the size of a refused photo is the likely reason. */
const SMALL_SIDE = 200

/**
 * Reads a file as a photo. Reduces a photo that is too large if the browser can decode it. Throws `FILE_TOO_LARGE`,
 * `IMAGE_TOO_SMALL`, `INVALID_IMAGE` and `UNSUPPORTED_IMAGE_TYPE`.
 */
export async function readPhoto(file: Blob): Promise<Photo> {
  if (file.type !== '' && !file.type.startsWith('image/')) throw new Failure('UNSUPPORTED_IMAGE_TYPE')
  if (file.size === 0) throw new Failure('INVALID_IMAGE')
  const bitmap = await createImageBitmap(file).catch(() => null)
  const { short, long } = sidesOf(bitmap)
  if (bitmap && (short < MIN_SIDE || long > MAX_ASPECT * short)) throw new Failure('IMAGE_TOO_SMALL')
  const isLarge = file.size > MAX_BYTES || long > MAX_LONG_SIDE || short * long > MAX_PIXELS
  const unknown = { imageId: null, viewUrl: null, bitmap }
  if (!isLarge) return { file, ...unknown }
  if (bitmap === null) throw new Failure('FILE_TOO_LARGE')
  return { file: await encode(bitmap, MAX_SIDE), ...unknown }
}

export function isSmall({ bitmap }: Photo): boolean {
  return bitmap !== null && sidesOf(bitmap).short < SMALL_SIDE
}

function sidesOf(bitmap: ImageBitmap | null): { short: number; long: number } {
  const { width, height } = bitmap ?? { width: 0, height: 0 }
  return { short: Math.min(width, height), long: Math.max(width, height) }
}

/** Draws the bitmap on a canvas, which every Content-Security-Policy allows. `label` is for screen readers. */
export function drawBitmap(bitmap: ImageBitmap, label: string): HTMLCanvasElement {
  const canvas = draw(bitmap, 1000)
  canvas.setAttribute('role', 'img')
  canvas.setAttribute('aria-label', label)
  return canvas
}

function draw(bitmap: ImageBitmap, maxSide: number): HTMLCanvasElement {
  const scale = Math.min(1, maxSide / Math.max(bitmap.width, bitmap.height))
  const canvas = document.createElement('canvas')
  canvas.width = Math.round(bitmap.width * scale)
  canvas.height = Math.round(bitmap.height * scale)
  canvas.getContext('2d')?.drawImage(bitmap, 0, 0, canvas.width, canvas.height)
  return canvas
}

async function encode(bitmap: ImageBitmap, maxSide: number): Promise<Blob> {
  const blob = await new Promise<Blob | null>((resolve) => draw(bitmap, maxSide).toBlob(resolve, 'image/jpeg', QUALITY))
  if (blob === null || blob.size > MAX_BYTES) throw new Failure('FILE_TOO_LARGE')
  return blob
}

const KEY = 'drape:photo'
const THUMBNAIL_SIDE = 320

/** Stores the last photo for other products until the tab is closed: its ID, its view and a thumbnail. */
export function rememberPhoto({ bitmap }: Photo, { imageId, viewUrl }: Pick<Photo, 'imageId' | 'viewUrl'>): void {
  const thumbnail = bitmap && draw(bitmap, THUMBNAIL_SIDE).toDataURL('image/jpeg', 0.8)
  remember(() => sessionStorage, KEY, toJson({ imageId, viewUrl, thumbnail }))
}

export function forgetPhoto(): void {
  remember(() => sessionStorage, KEY, '')
}

export function hasRememberedPhoto(): boolean {
  return recall(() => sessionStorage, KEY) !== null
}

/** The photo that was last used in this tab. */
export async function recallPhoto(): Promise<Photo | null> {
  try {
    const { imageId, viewUrl = null, thumbnail } = JSON.parse(recall(() => sessionStorage, KEY) ?? '{}')
    if (typeof imageId !== 'string') return null
    return {
      file: null,
      imageId,
      viewUrl,
      bitmap: typeof thumbnail === 'string' ? await readThumbnail(thumbnail) : null,
    }
  } catch {
    return null
  }
}

/** Not with fetch: a policy may forbid data URLs for fetch. */
function readThumbnail(address: string): Promise<ImageBitmap> {
  const bytes = Uint8Array.from(atob(address.slice(address.indexOf(',') + 1)), (sign) => sign.charCodeAt(0))
  return createImageBitmap(new Blob([bytes], { type: 'image/jpeg' }))
}
