import { crc32 } from 'node:zlib'

const KEYWORD = 'XML:com.adobe.xmp'
/** Length of the signature and of the IHDR chunk, which always comes first. */
const HEADER_BYTES = 8 + 25

/**
 * Inserts an XMP packet into a PNG as an uncompressed iTXt chunk, the only form that readers search for (XMP
 * specification part 3, section 1.1.5). libvips would write a zTXt chunk, which many readers ignore.
 */
export function insertXmp(png: Buffer, packet: string): Buffer {
  // Keyword, then: uncompressed, no method, no language, no translated keyword.
  const content = Buffer.concat([
    Buffer.from(KEYWORD, 'latin1'),
    Buffer.from([0, 0, 0, 0, 0]),
    Buffer.from(packet, 'utf8'),
  ])
  const chunk = pngChunk('iTXt', content)
  return Buffer.concat([png.subarray(0, HEADER_BYTES), chunk, png.subarray(HEADER_BYTES)])
}

/** A chunk of a PNG: length, type, content, checksum. */
export function pngChunk(type: string, content: Buffer): Buffer {
  const typed = Buffer.concat([Buffer.from(type, 'latin1'), content])
  const chunk = Buffer.alloc(typed.length + 8)
  chunk.writeUInt32BE(content.length)
  typed.copy(chunk, 4)
  chunk.writeUInt32BE(crc32(typed), typed.length + 4)
  return chunk
}
