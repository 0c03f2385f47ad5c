import { parentPort } from 'node:worker_threads'
import { DrapeError } from '../../api/shared/errors.ts'
import type { Bitmap } from '../raster/plane.ts'
import type { Category } from './garment.ts'
import { type PreparedGarment, prepareGarment } from './prepare-garment.ts'

// Thread that prepares garments. Answers each message with the garment or the error. Does not catch bugs, which end the thread.

export interface GarmentMessage {
  readonly id: number
  readonly bitmap: Bitmap
  readonly category: Category | null
  readonly longest: number
}

export type GarmentAnswer = { readonly id: number } & (
  | { readonly garment: PreparedGarment }
  | { readonly refusal: Pick<DrapeError, 'code' | 'message' | 'details'> }
)

const port = parentPort
if (!port) throw new Error('This module must run in a worker thread')

port.on('message', ({ id, bitmap, ...options }: GarmentMessage) => {
  try {
    const garment = prepareGarment(bitmap, options)
    port.postMessage({ id, garment } satisfies GarmentAnswer, [garment.image.data.buffer as ArrayBuffer])
  } catch (error) {
    if (!(error instanceof DrapeError)) throw error
    const { code, message, details } = error
    port.postMessage({ id, refusal: { code, message, details } } satisfies GarmentAnswer)
  }
  // Collect garbage now, while the caller continues: garments are most of this thread's memory.
  globalThis.gc?.()
})
