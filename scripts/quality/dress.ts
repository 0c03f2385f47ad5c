import { createHash } from 'node:crypto'
import { DrapeError } from '../../api/shared/contract/errors.ts'
import type { Engine, EngineResult } from '../../worker/engines/engine.ts'
import type { Models } from '../../worker/inference/models.ts'
import { blendChange } from '../../worker/vision/composite/blend.ts'
import { protectBody } from '../../worker/vision/composite/protect-body.ts'
import { findPerson } from '../../worker/vision/person/find-person.ts'
import type { Bitmap } from '../../worker/vision/raster/plane.ts'

/** The engine's result for a photo and a product photo, as a caller sees it, with its duration in ms; or the error. */
export type Outcome =
  | { readonly result: EngineResult; readonly ms: number; readonly refusal: null }
  | { readonly result: null; readonly ms: null; readonly refusal: DrapeError }

export async function dress(
  { engine, models }: { engine: Engine; models: Models },
  { person, garment }: { person: Bitmap; garment: { bytes: Uint8Array; bitmap: Bitmap } },
): Promise<Outcome> {
  const started = performance.now()
  try {
    const found = (await findPerson(person, models)) ?? undefined
    const result = await engine.run(
      {
        person,
        found,
        garment: garment.bitmap,
        garmentHash: createHash('sha256').update(garment.bytes).digest('hex'),
        category: null,
        options: { seed: 1, mode: 'balanced' },
      },
      { signal: new AbortController().signal, onProgress: () => {} },
    )
    if (found) protectBody(result.change, found, person)
    const ms = Math.round(performance.now() - started)
    return { result: { ...result, image: blendChange({ photo: person, ...result }) }, ms, refusal: null }
  } catch (error) {
    if (error instanceof DrapeError) return { result: null, ms: null, refusal: error }
    throw error
  }
}
