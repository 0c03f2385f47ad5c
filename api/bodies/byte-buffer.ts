/** Bytes in one growing buffer: a sender can split a body into chunks that each take more memory than their bytes. */
export interface ByteBuffer {
  append(chunk: Uint8Array): void
  /** All bytes so far. */
  bytes(): Buffer
}

export function createByteBuffer(): ByteBuffer {
  let buffer = Buffer.alloc(0)
  let length = 0
  return {
    append: (chunk) => {
      if (length + chunk.length > buffer.length) {
        const larger = Buffer.allocUnsafeSlow(Math.max(2 * buffer.length, length + chunk.length))
        buffer.copy(larger, 0, 0, length)
        buffer = larger
      }
      buffer.set(chunk, length)
      length += chunk.length
    },
    bytes: () => buffer.subarray(0, length),
  }
}
