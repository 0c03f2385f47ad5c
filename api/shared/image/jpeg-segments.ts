import { createPartCounter } from './image-parts.ts'

/** A segment of a JPEG, from its 0xff to the end of its payload; for a scan, to the end of its header. */
export interface JpegSegment {
  readonly marker: number
  /** Offset of its 0xff, without fill bytes. */
  readonly start: number
  /** Offset of its payload, after the two length bytes. */
  readonly payload: number
  readonly end: number
  /** Whether bytes that belong to no segment precede it. */
  readonly isBehindStrayBytes: boolean
}

export const START_OF_SCAN = 0xda
export const END_OF_IMAGE = 0xd9

/** Total between all segments; some cameras pad them. */
const MAX_STRAY_BYTES = 1024 * 1024

/**
 * Segments of a JPEG in order, from the first after the start marker to the end marker, as decoders find them: skips
 * bytes between segments. Yields no end marker if the file has none.
 * @throws RangeError when a segment is truncated or has an impossible length, and for more than 10,000 segments or 1 MB
 * between them.
 */
export function* readJpegSegments(bytes: Buffer): Generator<JpegSegment> {
  let offset = 2
  let stray = 0
  const countPart = createPartCounter()
  for (;;) {
    countPart()
    const start = findMarker(bytes, offset)
    if (start === -1) return
    stray += start - offset
    if (stray > MAX_STRAY_BYTES) throw new RangeError(`more than ${MAX_STRAY_BYTES} bytes between segments`)
    const marker = bytes[start + 1]
    const place = { marker, start, isBehindStrayBytes: bytes[offset] !== 0xff }
    if (marker === END_OF_IMAGE) {
      yield { ...place, payload: start + 2, end: start + 2 }
      return
    }
    offset = start + 2
    if (isWithoutPayload(marker)) continue
    const length = bytes.readUInt16BE(offset)
    if (length < 2) throw new RangeError(`a segment of ${length} bytes`)
    const segment = { ...place, payload: offset + 2, end: offset + length }
    if (segment.end > bytes.length) throw new RangeError('a truncated segment')
    yield segment
    offset = marker === START_OF_SCAN ? findScanEnd(bytes, segment.end) : segment.end
  }
}

/** SOF0 to SOF15; C4, C8 and CC are other segments. */
export function isFrame(marker: number): boolean {
  return (marker & 0xf0) === 0xc0 && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc
}

/** Restart markers and TEM. */
function isWithoutPayload(marker: number): boolean {
  return isRestart(marker) || marker === 0x01
}

function isRestart(marker: number): boolean {
  return (marker & 0xf8) === 0xd0
}

/**
 * Offset of the next 0xff followed by a marker, or -1. Scans byte by byte: a native search for each 0xff is 10 times
 * slower in a file of 0xff bytes.
 */
function findMarker(bytes: Buffer, from: number, { skipsRestarts = false } = {}): number {
  for (let i = from; i < bytes.length - 1; i++) {
    const next = bytes[i + 1]
    if (next === 0xff) continue
    if (bytes[i] === 0xff && next !== 0 && !(skipsRestarts && isRestart(next))) return i
    // No marker begins with a byte other than 0xff.
    i++
  }
  return -1
}

/** Offset of the marker after a scan's data, which may contain restart markers. */
function findScanEnd(bytes: Buffer, from: number): number {
  const end = findMarker(bytes, from, { skipsRestarts: true })
  return end === -1 ? bytes.length : end
}
