import { parentPort } from 'node:worker_threads'
import { DrapeError } from '../../api/shared/errors.ts'
import type { Bitmap } from '../raster/plane.ts'
import type { Category } from './garment.ts'
import { type PreparedGarment, prepareGarment } from './prepare-garment.ts'

// A thread that prepares garments. Each message is answered by the garment or the reason why there is none; a fault of the program
// itself is left uncaught and ends the thread.

export interface GarmentMessage {
  readonly id: number
  readonly picture: Bitmap
  readonly category: Category | null
  readonly longest: number
}

export type GarmentAnswer = { readonly id: number } & (
  | { readonly garment: PreparedGarment }
  | { readonly refusal: Pick<DrapeError, 'code' | 'message' | 'details'> }
)

const port = parentPort
if (!port) throw new Error('This module is the program of a thread')

port.on('message', ({ id, picture, ...options }: GarmentMessage) => {
  try {
    const garment = prepareGarment(picture, options)
    port.postMessage({ id, garment } satisfies GarmentAnswer, [garment.image.data.buffer as ArrayBuffer])
  } catch (error) {
    if (!(error instanceof DrapeError)) throw error
    const { code, message, details } = error
    port.postMessage({ id, refusal: { code, message, details } } satisfies GarmentAnswer)
  }
  // The caller goes on meanwhile, and the garbage of a garment is most of what this thread would hold.
  globalThis.gc?.()
})
