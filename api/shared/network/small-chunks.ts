import { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'

/** Of a body of any size. */
const MAX_SMALL_CHUNKS = 10_000
/** Mean size of all chunks of a body with more. */
const MIN_MEAN_BYTES = 256

export const SMALL_CHUNKS = 'DRAPE_SMALL_CHUNKS'

/**
 * Creates the class of requests whose body has chunks of a reasonable size: Node needs 5 µs for each, and a chunk of 1
 * byte takes 6 bytes on the wire. `refuse` gets an error with the code `SMALL_CHUNKS` for more than 10,000 chunks with a
 * mean below 256 bytes.
 */
export function createBoundedRequest(refuse: (error: Error, socket: Socket) => void): typeof IncomingMessage {
  return class extends IncomingMessage {
    #chunks = 0
    #bytes = 0

    override push(chunk: Buffer | null, encoding?: BufferEncoding): boolean {
      if (chunk !== null) {
        this.#bytes += chunk.length
        if (++this.#chunks > MAX_SMALL_CHUNKS + this.#bytes / MIN_MEAN_BYTES) {
          refuse(Object.assign(new Error('too many small chunks'), { code: SMALL_CHUNKS }), this.socket)
          return false
        }
      }
      return super.push(chunk, encoding)
    }
  }
}
