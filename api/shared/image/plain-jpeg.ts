import { END_OF_IMAGE, isFrame, type JpegSegment, START_OF_SCAN } from './jpeg-segments.ts'

interface Edit {
  readonly start: number
  readonly end: number
  readonly bytes: readonly number[]
}

interface Frame {
  readonly isProgressive: boolean
  /** By component ID: the number of low bits of each coefficient that no scan has sent so far. */
  readonly missingBits: Map<number, Uint8Array>
}

const COEFFICIENTS = 64
const ALL_BITS = 255
const MAX_EDITS = 100
const APP0 = 0xe0
const APP1 = 0xe1
const APP14 = 0xee
const END = [0xff, END_OF_IMAGE]

/**
 * Corrects the header errors of a JPEG that make a strict decoder warn but leave every pixel readable, so that
 * remaining warnings mean damaged or missing pixels. Returns the same bytes when there is nothing to correct.
 *
 * Adds a missing end marker only if the scans contain all bits of all coefficients; otherwise a progressive image would
 * be coarse. The decoder checks whether the last scan is complete: it warns if the end marker comes before the last
 * block.
 */
export function toPlainJpeg(bytes: Uint8Array, segments: readonly JpegSegment[]): Uint8Array {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const edits = findEdits(file, segments)
  if (edits.length === 0 || edits.length > MAX_EDITS) return bytes
  const parts: Uint8Array[] = []
  let done = 0
  for (const { start, end, bytes: replacement } of edits.sort((a, b) => a.start - b.start)) {
    parts.push(file.subarray(done, start), Uint8Array.from(replacement))
    done = end
  }
  return Buffer.concat([...parts, file.subarray(done)])
}

function findEdits(file: Buffer, segments: readonly JpegSegment[]): Edit[] {
  const edits: Edit[] = []
  let frame: Frame | null = null
  let adobe: JpegSegment | null = null
  let previousEnd = 2
  let scans = 0
  for (const segment of segments) {
    const { marker, start } = segment
    if (marker === END_OF_IMAGE) return edits
    if (segment.isBehindStrayBytes && scans === 0) edits.push({ start: previousEnd, end: start, bytes: [] })
    if (marker === APP0) edits.push(...correctVersion(file, segment))
    if (marker === APP1 && isEmptyExif(file, segment)) edits.push({ start, end: segment.end, bytes: [] })
    if (marker === APP14) adobe = segment
    if (isFrame(marker)) {
      frame = readFrame(file, segment)
      if (adobe) edits.push(...correctTransform(file, adobe, frame.missingBits.size))
    }
    if (marker === START_OF_SCAN && frame) {
      edits.push(...correctScan(file, segment, frame))
      markAsSent(file, segment, frame)
      scans++
      if (isWhole(frame) && !frame.isProgressive) break
    }
    if (edits.length > MAX_EDITS) return edits
    previousEnd = segment.end
  }
  const needsEnd = frame !== null && isWhole(frame) && segments.at(-1)?.marker !== END_OF_IMAGE
  return needsEnd ? [...edits, { start: endOfData(file), end: file.length, bytes: END }] : edits
}

/** Zeros in place of missing data could be taken for the codes of a plain area; a scan's own data ends with 1 bits. */
function endOfData(file: Buffer): number {
  let end = file.length
  while (end > 0 && file[end - 1] === 0) end--
  return end
}

function correctVersion(file: Buffer, { payload, end }: JpegSegment): Edit[] {
  const isJfif = end - payload >= 7 && file.toString('latin1', payload, payload + 5) === 'JFIF\0'
  return isJfif && file[payload + 5] !== 1 ? [{ start: payload + 5, end: payload + 6, bytes: [1] }] : []
}

/** Without tags it would hide the Exif segment that follows. */
function isEmptyExif(file: Buffer, { payload, end }: JpegSegment): boolean {
  return file.toString('latin1', payload, payload + 4) === 'Exif' && end - payload < 14
}

/** Decoders treat an unknown transform as the usual one, YCbCr or YCCK. */
function correctTransform(file: Buffer, { payload, end }: JpegSegment, components: number): Edit[] {
  const usual = components === 4 ? 2 : 1
  const isAdobe = end - payload >= 12 && file.toString('latin1', payload, payload + 5) === 'Adobe'
  const transform = file[payload + 11]
  return isAdobe && transform !== 0 && transform !== usual
    ? [{ start: payload + 11, end: payload + 12, bytes: [usual] }]
    : []
}

function readFrame(file: Buffer, { marker, payload, end }: JpegSegment): Frame {
  const ids: number[] = []
  for (let at = payload + 6; at < end; at += 3) ids.push(file[at])
  return {
    // SOF2, SOF6, SOF10 and SOF14.
    isProgressive: (marker & 3) === 2,
    missingBits: new Map(ids.map((id) => [id, new Uint8Array(COEFFICIENTS).fill(ALL_BITS)])),
  }
}

/**
 * Only progressive scans send some of the coefficients; some cameras write other values into the headers of other
 * scans.
 */
function correctScan(file: Buffer, { payload, end }: JpegSegment, { isProgressive }: Frame): Edit[] {
  if (end - payload < 6) throw new RangeError('a truncated scan header')
  const isUsual = file[end - 3] === 0 && file[end - 2] === COEFFICIENTS - 1 && file[end - 1] === 0
  return isProgressive || isUsual ? [] : [{ start: end - 3, end, bytes: [0, COEFFICIENTS - 1, 0] }]
}

function markAsSent(file: Buffer, { payload, end }: JpegSegment, { isProgressive, missingBits }: Frame): void {
  const [first, last, low] = isProgressive
    ? [file[end - 3], file[end - 2], file[end - 1] & 15]
    : [0, COEFFICIENTS - 1, 0]
  for (let at = payload + 1; at < end - 3; at += 2) missingBits.get(file[at])?.fill(low, first, last + 1)
}

function isWhole({ missingBits }: Frame): boolean {
  return [...missingBits.values()].every((bits) => bits.every((missing) => missing === 0))
}
