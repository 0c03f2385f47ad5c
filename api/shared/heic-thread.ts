import { constants, setPriority } from 'node:os'
import { parentPort } from 'node:worker_threads'
import { createHeicDecoder, type HeicOptions } from './heic-decoder.ts'
import { type DecodedHeic, HeicRefusal } from './heic-picture.ts'

// One decoding thread. A message with a file's bytes is answered by the picture or the reason why there is none; a fault of
// the library itself is left uncaught and ends the thread.

/** What the thread says: first that it is ready, then one answer for each file. */
export type HeicAnswer =
  | 'ready'
  | ({ readonly heldBytes: number } & (
      | { readonly picture: DecodedHeic }
      | { readonly refusal: HeicRefusal['reason']; readonly message: string }
    ))

export type HeicRequest = HeicOptions & { readonly file: Uint8Array }

const port = parentPort
if (!port) throw new Error('This module is the program of a thread')
// On Linux a priority is that of the calling thread alone: other requests come first.
if (process.platform === 'linux') setPriority(constants.priority.PRIORITY_BELOW_NORMAL)
const decoder = createHeicDecoder()

port.on('message', ({ file, ...options }: HeicRequest) => {
  try {
    const picture = decoder.decode(file, options)
    port.postMessage({ picture, heldBytes: decoder.heldBytes() } satisfies HeicAnswer, [
      picture.data.buffer as ArrayBuffer,
    ])
  } catch (error) {
    if (!(error instanceof HeicRefusal)) throw error
    const { reason, message } = error
    port.postMessage({ refusal: reason, message, heldBytes: decoder.heldBytes() } satisfies HeicAnswer)
  }
})
port.postMessage('ready' satisfies HeicAnswer)
