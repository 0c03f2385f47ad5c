import { readFile } from 'node:fs/promises'
import { type Bitmap, decodeImage } from '../../../api/shared/image/image.ts'
import type { Provider } from '../../inference/session.ts'
import { embedMark, type Marked } from './embed.ts'
import { type MarkModels, openMarkModels } from './mark-models.ts'
import { readFrame, readMark, WHOLE } from './read.ts'

/** The imperceptible mark of results, by the models of an operator. */
export interface Mark {
  /** Marks the image with an ID of 10 hex digits, see `embedMark`. */
  embed(bitmap: Bitmap, id: string): Promise<Marked>
  /** The ID of the image's mark; null if it has none, see `readMark`. */
  read(bitmap: Bitmap): Promise<string | null>
  release(): Promise<void>
}

const SAMPLE = new URL('sample.jpg', import.meta.url)
const SAMPLE_ID = '5d2f80c1b7'

/**
 * Opens the models of the folder, and marks a photo as a test.
 * @throws Error that names the folder or file and the problem: missing or other models, or a decoder that does not read what the encoder
 * writes
 */
export async function openMark(folder: string, { provider }: { provider?: Provider } = {}): Promise<Mark> {
  const models = await openMarkModels(folder, { provider })
  const problem = await findProblem(models)
  if (problem === null)
    return {
      embed: (bitmap, id) => embedMark(bitmap, id, models),
      read: (bitmap) => readMark(bitmap, models),
      release: models.release,
    }
  await models.release()
  throw new Error(`${folder}: ${problem}`)
}

async function findProblem(models: MarkModels): Promise<string | null> {
  const photo = await decodeImage(await readFile(SAMPLE))
  if ((await readFrame(photo, WHOLE, models)) !== null) return 'the decoder reads a mark in a photo that has none'
  const { outcome } = await embedMark(photo, SAMPLE_ID, models)
  if (outcome === 'unreadable')
    return 'the decoder does not read what the encoder writes: use an encoder and a decoder of the same variant of TrustMark'
  if (outcome === 'visible') return 'the encoder changes a photo so much that people see it'
  return null
}
