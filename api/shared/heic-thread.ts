import { parentPort, workerData } from 'node:worker_threads'
import type { DecodedHeic } from './heic-decoder.ts'
import { createHeicDecoder, HeicRefusal } from './heic-decoder.ts'

// One decoding thread. A message with a file's bytes is answered by the picture or the reason why there is none; a fault of
// the library itself is left uncaught and ends the thread.

/** What the thread says: first that it is ready, then one answer for each file. */
export type HeicAnswer =
  | 'ready'
  | { readonly picture: DecodedHeic }
  | { readonly refusal: HeicRefusal['reason']; readonly message: string }

const port = parentPort
if (!port) throw new Error('This module is the program of a thread')
const decoder = createHeicDecoder(workerData)

port.on('message', (file: Uint8Array) => {
  try {
    const picture = decoder.decode(file)
    port.postMessage({ picture } satisfies HeicAnswer, [picture.data.buffer as ArrayBuffer])
  } catch (error) {
    if (!(error instanceof HeicRefusal)) throw error
    port.postMessage({ refusal: error.reason, message: error.message } satisfies HeicAnswer)
  }
})
port.postMessage('ready' satisfies HeicAnswer)
