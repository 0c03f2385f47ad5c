import { pngChunk } from './png-chunk.ts'

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
