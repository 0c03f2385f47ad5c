import { createPartCounter } from './image-parts.ts'

const SIGNATURE_BYTES = 8
/** Length, type and checksum of a chunk. */
const FRAME_BYTES = 12

const [IDAT, IEND] = [typeCode('IDAT'), typeCode('IEND')]
/** Chunks that affect pixels or colours. All others are text, dates or further images. */
const KEPT = new Set(
  ['IHDR', 'PLTE', 'tRNS', 'IDAT', 'IEND', 'gAMA', 'cHRM', 'sRGB', 'iCCP', 'cICP', 'eXIf'].map(typeCode),
)

/**
 * Removes chunks that do not affect pixels, and repetitions of chunks that a PNG has once: decoders inflate every text
 * chunk, so that 274 KB can take more than 1 GB of memory. Returns the same bytes when there is nothing to remove.
 * @throws RangeError for more than 10,000 chunks.
 */
export function toPlainPng(bytes: Uint8Array): Uint8Array {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const kept: Buffer[] = []
  const seen = new Set<number>()
  let keptFrom = 0
  let at = SIGNATURE_BYTES
  const countPart = createPartCounter()
  while (at + FRAME_BYTES <= file.length) {
    countPart()
    const type = file.readUInt32BE(at + 4)
    const end = at + FRAME_BYTES + file.readUInt32BE(at)
    if (!KEPT.has(type) || (seen.has(type) && type !== IDAT)) {
      kept.push(file.subarray(keptFrom, at))
      keptFrom = end
    }
    seen.add(type)
    at = end
    if (type === IEND) break
  }
  return kept.length === 0 ? bytes : Buffer.concat([...kept, file.subarray(keptFrom)])
}

function typeCode(type: string): number {
  return Buffer.from(type, 'latin1').readUInt32BE()
}
