/** The parts of a JPEG: the start marker, each segment, each scan header with its data, and the rest from the end marker on. */
export function jpegSegments(file: Buffer): Buffer[] {
  const parts = [file.subarray(0, 2)]
  let offset = 2
  while (offset < file.length) {
    const marker = file[offset + 1]
    if (marker === 0xd9) return [...parts, file.subarray(offset)]
    let end = offset + 2 + file.readUInt16BE(offset + 2)
    if (marker === 0xda) while (file[end] !== 0xff || file[end + 1] === 0 || (file[end + 1] & 0xf8) === 0xd0) end++
    parts.push(file.subarray(offset, end))
    offset = end
  }
  return parts
}

export function segment(marker: number, data: Buffer): Buffer {
  const header = Buffer.from([0xff, marker, 0, 0])
  header.writeUInt16BE(data.length + 2, 2)
  return Buffer.concat([header, data])
}

/** The file with these segments before its own. */
export function insertSegments(file: Buffer, ...added: readonly Buffer[]): Buffer {
  return Buffer.concat([file.subarray(0, 2), ...added, file.subarray(2)])
}

/** Exif with an orientation only. Its TIFF part begins at byte 10. */
export function exifSegment(orientation: number, { littleEndian = false } = {}): Buffer {
  const tiff = Buffer.alloc(26)
  const [uint16, uint32] = littleEndian
    ? [tiff.writeUInt16LE.bind(tiff), tiff.writeUInt32LE.bind(tiff)]
    : [tiff.writeUInt16BE.bind(tiff), tiff.writeUInt32BE.bind(tiff)]
  tiff.write(littleEndian ? 'II' : 'MM')
  uint16(42, 2)
  uint32(8, 4)
  uint16(1, 8)
  uint16(0x0112, 10)
  uint16(3, 12)
  uint32(1, 14)
  uint16(orientation, 18)
  return segment(0xe1, Buffer.concat([Buffer.from('Exif\0\0'), tiff]))
}
