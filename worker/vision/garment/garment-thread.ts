import { parentPort } from 'node:worker_threads'
import { DrapeError } from '../../../api/shared/contract/errors.ts'
import type { Bitmap } from '../raster/plane.ts'
import type { GarmentModel, RunGarmentModel } from './garment-models.ts'
import type { PreparedGarment } from './prepare-garment.ts'
import { type ProductOptions, prepareProduct } from './prepare-product.ts'

// Thread that prepares garments, one at a time. Answers each message with the garment or the error. The thread that sent the message runs the
// models. Does not catch bugs, which end the thread.

export type GarmentMessage =
  | ({ readonly id: number; readonly bitmap: Bitmap } & ProductOptions)
  /** The output of a model, in response to a `ModelRequest`. */
  | { readonly id: number; readonly output: Float32Array }

export interface ModelRequest {
  readonly id: number
  readonly model: GarmentModel
  readonly image: Float32Array
}

export type GarmentAnswer = { readonly id: number } & (
  | { readonly garment: PreparedGarment }
  | { readonly refusal: Pick<DrapeError, 'code' | 'message' | 'details'> }
)

const port = parentPort
if (!port) throw new Error('This module must run in a worker thread')

let receiveOutput: ((output: Float32Array) => void) | null = null
// The next garment waits: two large ones need too much memory.
let last = Promise.resolve()

port.on('message', (message: GarmentMessage) => {
  if ('output' in message) receiveOutput?.(message.output)
  else last = last.then(() => prepare(message))
})

async function prepare({ id, bitmap, ...options }: Extract<GarmentMessage, { bitmap: Bitmap }>): Promise<void> {
  const run: RunGarmentModel = (model, image) =>
    new Promise((resolve) => {
      receiveOutput = resolve
      port?.postMessage({ id, model, image } satisfies ModelRequest)
    })
  try {
    const garment = await prepareProduct(bitmap, options, run)
    port?.postMessage({ id, garment } satisfies GarmentAnswer, [garment.image.data.buffer as ArrayBuffer])
  } catch (error) {
    if (!(error instanceof DrapeError)) throw error
    const { code, message, details } = error
    port?.postMessage({ id, refusal: { code, message, details } } satisfies GarmentAnswer)
  }
  // Collect young garbage now, while the caller continues: bitmaps are most of this thread's memory. A full collection would also drop the
  // compiled code of closures, which takes longer to make again than the garment.
  globalThis.gc?.({ type: 'minor' })
}
