import { createPartCounter } from './image-parts.ts'

const SIGNATURE_BYTES = 8
/** Length, type and checksum of a chunk. */
const FRAME_BYTES = 12

/** Chunks that affect pixels or colours. All others are text, dates or further images. */
const KEPT = new Set(['IHDR', 'PLTE', 'tRNS', 'IDAT', 'IEND', 'sRGB', 'iCCP', 'eXIf'])

/**
 * Removes chunks that do not affect pixels, and repetitions of chunks that a PNG has once: decoders inflate every text
 * chunk, so that 274 KB can take more than 1 GB of memory. Returns the same bytes when there is nothing to change.
 * @throws RangeError for more than 10,000 chunks.
 */
export function toPlainPng(bytes: Uint8Array): Uint8Array {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const kept: Buffer[] = []
  const seen = new Set<string>()
  let keptFrom = 0
  for (const { type, start, end } of chunksOf(file)) {
    if (!KEPT.has(type) || (seen.has(type) && type !== 'IDAT')) {
      kept.push(file.subarray(keptFrom, start))
      keptFrom = end
    }
    seen.add(type)
  }
  return kept.length === 0 ? bytes : Buffer.concat([...kept, file.subarray(keptFrom)])
}

interface Chunk {
  readonly type: string
  readonly start: number
  readonly end: number
}

function* chunksOf(file: Buffer): Generator<Chunk> {
  const countPart = createPartCounter()
  let start = SIGNATURE_BYTES
  while (start + FRAME_BYTES <= file.length) {
    countPart()
    const type = file.toString('latin1', start + 4, start + 8)
    const end = start + FRAME_BYTES + file.readUInt32BE(start)
    yield { type, start, end }
    if (type === 'IEND') return
    start = end
  }
}
