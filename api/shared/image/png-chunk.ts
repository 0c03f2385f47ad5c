import { crc32 } from 'node:zlib'

/** A chunk of a PNG: length, type, content, checksum. */
export function pngChunk(type: string, content: Buffer): Buffer {
  const typed = Buffer.concat([Buffer.from(type, 'latin1'), content])
  const chunk = Buffer.alloc(typed.length + 8)
  chunk.writeUInt32BE(content.length)
  typed.copy(chunk, 4)
  chunk.writeUInt32BE(crc32(typed), typed.length + 4)
  return chunk
}
