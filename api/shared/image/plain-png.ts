import { createPartCounter } from './image-parts.ts'
import { pngChunk } from './png-chunk.ts'
import { type PngColours, replacementProfile } from './png-colour.ts'

const SIGNATURE_BYTES = 8
/** Length, type and checksum of a chunk. */
const FRAME_BYTES = 12

/** Chunks that affect pixels or colours. All others are text, dates or further images. */
const KEPT = new Set(['IHDR', 'PLTE', 'tRNS', 'IDAT', 'IEND', 'gAMA', 'cHRM', 'sRGB', 'iCCP', 'cICP', 'eXIf'])
const HEADER_END = 33

/**
 * Removes chunks that do not affect pixels, and repetitions of chunks that a PNG has once: decoders inflate every text
 * chunk, so that 274 KB can take more than 1 GB of memory. Replaces the colour profile if another chunk has priority. Returns the same
 * bytes when there is nothing to change.
 * @throws RangeError for more than 10,000 chunks.
 */
export function toPlainPng(bytes: Uint8Array): Uint8Array {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const profile = replacementProfile(readColours(file))
  const kept: Buffer[] = []
  const seen = new Set<string>()
  let keptFrom = 0
  for (const { type, start, end } of chunksOf(file)) {
    const isReplaced = type === 'iCCP' && profile !== undefined
    if (!KEPT.has(type) || isReplaced || (seen.has(type) && type !== 'IDAT')) {
      kept.push(file.subarray(keptFrom, start))
      keptFrom = end
    }
    seen.add(type)
  }
  const whole = kept.length === 0 ? file : Buffer.concat([...kept, file.subarray(keptFrom)])
  if (profile)
    return Buffer.concat([whole.subarray(0, HEADER_END), pngChunk('iCCP', profile), whole.subarray(HEADER_END)])
  return kept.length === 0 ? bytes : whole
}

/** Colour chunks count only before the pixels. */
function readColours(file: Buffer): PngColours {
  const chunks = new Map<string, Buffer>()
  for (const { type, start, end } of chunksOf(file)) {
    if (type === 'IDAT') break
    if (!chunks.has(type)) chunks.set(type, file.subarray(start + 8, end - 4))
  }
  return { colourType: chunks.get('IHDR')?.[9] ?? 0, chunks }
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
