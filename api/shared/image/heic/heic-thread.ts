import { constants, setPriority } from 'node:os'
import { parentPort } from 'node:worker_threads'
import { type DecodedHeic, HeicRefusal } from './heic-bitmap.ts'
import { createHeicDecoder, type HeicOptions } from './heic-decoder.ts'

// A decoding thread. Answers each message with a file by the bitmap or the reason for a refusal. An error of the
// library itself stays uncaught and ends the thread.

/** Messages of the thread: `ready` once, then one response per file. */
export type HeicAnswer =
  | 'ready'
  | ({ readonly heldBytes: number } & (
      | { readonly bitmap: DecodedHeic }
      | { readonly refusal: HeicRefusal['reason']; readonly message: string }
    ))

export type HeicRequest = HeicOptions & { readonly file: Uint8Array }

const port = parentPort
if (!port) throw new Error('This module must run in a worker thread')
// On Linux a priority applies to the calling thread alone. Lower, so that requests come first.
if (process.platform === 'linux') setPriority(constants.priority.PRIORITY_BELOW_NORMAL)
const decoder = createHeicDecoder()

port.on('message', ({ file, ...options }: HeicRequest) => {
  try {
    const bitmap = decoder.decode(file, options)
    port.postMessage({ bitmap, heldBytes: decoder.heldBytes() } satisfies HeicAnswer, [
      bitmap.data.buffer as ArrayBuffer,
    ])
  } catch (error) {
    if (!(error instanceof HeicRefusal)) throw error
    const { reason, message } = error
    port.postMessage({ refusal: reason, message, heldBytes: decoder.heldBytes() } satisfies HeicAnswer)
  }
})
port.postMessage('ready' satisfies HeicAnswer)
