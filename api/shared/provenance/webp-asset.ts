import type { Asset } from '@trustnxt/c2pa-ts/asset'
import { createPartCounter } from '../image/image-parts.ts'

const HEADER_BYTES = 12
const CHUNK_HEADER_BYTES = 8
const TYPE = 'C2PA'

/** Offsets in bytes from the start of the file; `size` excludes header and padding. */
interface Chunk {
  readonly type: string
  readonly start: number
  readonly size: number
}

export function isWebp(bytes: Uint8Array): boolean {
  return textAt(bytes, 0) === 'RIFF' && textAt(bytes, 8) === 'WEBP'
}

/**
 * A WebP as a container of a manifest: the last chunk, of type C2PA (C2PA 2.2, section A.3.7). The library supports
 * only JPEG and PNG.
 * @throws Error when a chunk extends beyond the file, and for more than 10,000 chunks
 */
export function createWebpAsset(bytes: Uint8Array): Asset {
  let data = bytes
  const known = readChunks(data)
    .filter(({ type }) => type === TYPE)
    .toArray()
  // With two manifests, neither counts: the valid one is ambiguous.
  let manifest = known.length === 1 ? known[0] : undefined
  const reserved = (): Chunk => {
    if (!manifest) throw new Error('The WebP has no room for a manifest')
    return manifest
  }
  return {
    mimeType: 'image/webp',
    dumpInfo: () => `WebP of ${data.length} bytes`,
    getDataLength: () => data.length,
    getDataRange: async (start = 0, length = data.length - start) => data.subarray(start, start + length),
    getManifestJUMBF: () => manifest && contentOf(data, manifest),
    ensureManifestSpace: async (length) => {
      if (known.length > 0) throw new Error('The WebP already has a manifest')
      manifest = { type: TYPE, start: data.length, size: length }
      data = withChunk(data, manifest)
    },
    getHashExclusionRange: () => ({ start: reserved().start, length: CHUNK_HEADER_BYTES + reserved().size }),
    writeManifestJUMBF: async (jumbf) => contentOf(data, reserved()).set(jumbf),
  }
}

function* readChunks(bytes: Uint8Array): Generator<Chunk> {
  const countPart = createPartCounter()
  for (let start = HEADER_BYTES; start + CHUNK_HEADER_BYTES <= bytes.length; ) {
    countPart()
    const chunk = { type: textAt(bytes, start), start, size: viewOf(bytes).getUint32(start + 4, true) }
    if (start + CHUNK_HEADER_BYTES + chunk.size > bytes.length) throw new Error('A chunk of the WebP is incomplete')
    yield chunk
    start += lengthOf(chunk)
  }
}

/** Chunks begin at even offsets. */
function lengthOf({ size }: Chunk): number {
  return CHUNK_HEADER_BYTES + size + (size % 2)
}

function contentOf(bytes: Uint8Array, { start, size }: Chunk): Uint8Array {
  return bytes.subarray(start + CHUNK_HEADER_BYTES, start + CHUNK_HEADER_BYTES + size)
}

/** Appends an empty chunk and updates the header. */
function withChunk(bytes: Uint8Array, chunk: Chunk): Uint8Array {
  const longer = new Uint8Array(bytes.length + lengthOf(chunk))
  longer.set(bytes)
  longer.set(new TextEncoder().encode(chunk.type), chunk.start)
  const view = viewOf(longer)
  view.setUint32(chunk.start + 4, chunk.size, true)
  view.setUint32(4, longer.length - CHUNK_HEADER_BYTES, true)
  return longer
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

function textAt(bytes: Uint8Array, start: number): string {
  return String.fromCharCode(...bytes.subarray(start, start + 4))
}
