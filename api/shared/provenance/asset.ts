import { createHash } from 'node:crypto'
import { type Asset, JPEG, PNG } from '@trustnxt/c2pa-ts/asset'
import { Crypto } from '@trustnxt/c2pa-ts/crypto'
import { createPartCounter } from '../image/image-parts.ts'
import { createWebpAsset, isWebp } from './webp-asset.ts'

// The library would copy the file to hash it.
Object.assign(Crypto.provider, {
  streamingDigest: (algorithm: string) => {
    const hash = createHash(algorithm)
    return { update: (data: Uint8Array) => void hash.update(data), final: async () => new Uint8Array(hash.digest()) }
  },
} satisfies Partial<typeof Crypto.provider>)

/**
 * The file as a container of a C2PA manifest; null when the file is neither JPEG, PNG nor WebP.
 * @throws Error when the file is damaged, and for more than 10,000 segments or chunks, for each of which the library
 * would create an object
 */
export function openAsset(bytes: Uint8Array): Asset | null {
  const open = JPEG.canRead(bytes) ? JPEG : PNG.canRead(bytes) ? PNG : null
  if (open === null) return isWebp(bytes) ? createWebpAsset(bytes) : null
  assertFewParts(bytes, open === JPEG ? nextSegment : nextChunk)
  return new open(bytes)
}

/** Offset of the next part; beyond the end of the file after the last part. */
type Next = (view: DataView, start: number) => number

function assertFewParts(bytes: Uint8Array, next: Next): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  let start = next === nextSegment ? 2 : 8
  const countPart = createPartCounter()
  while (start + 12 < bytes.length) {
    countPart()
    start = next(view, start)
  }
}

const START_OF_SCAN = 0xffda

const nextSegment: Next = (view, start) =>
  view.getUint16(start) === START_OF_SCAN ? Number.POSITIVE_INFINITY : start + 2 + view.getUint16(start + 2)

const nextChunk: Next = (view, start) => start + 12 + view.getUint32(start)
