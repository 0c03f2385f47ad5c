import { createHash } from 'node:crypto'
import type { Engine, EngineResult } from '../../worker/engines/engine.ts'
import { createWarpEngine } from '../../worker/engines/warp/warp-engine.ts'
import { type Models, openModels } from '../../worker/inference/models.ts'
import { measureBody } from '../../worker/vision/body/body-frame.ts'
import { findParts, type Parts } from '../../worker/vision/body/parts.ts'
import { cutOut } from '../../worker/vision/garment/cut-out/cut-out.ts'
import type { Category, CutOut } from '../../worker/vision/garment/garment.ts'
import { findPerson } from '../../worker/vision/person/find-person.ts'
import { parsePerson } from '../../worker/vision/person/parse.ts'
import type { Person } from '../../worker/vision/person/person.ts'
import type { Bitmap } from '../../worker/vision/raster/plane.ts'
import { createPyramid } from '../../worker/vision/raster/pyramid.ts'

// Test files of a worker share modules, and ask for the same pictures: each model is opened once, and each picture is searched, cut out and
// dressed once. Nothing here may be changed by a test, and nothing is released: an idle engine keeps no process alive.

/** Results of one kind that are kept: most have the size of a picture, 4 MB. The fixtures show about 30 garments. */
const KEPT = 40

let models: Promise<Models> | undefined
let engine: Promise<Engine> | undefined

/** All models of the worker. */
export function sharedModels(): Promise<Models> {
  models ??= openModels('worker/models')
  return models
}

/** The engine `warp`, which caches garments itself. */
export function sharedEngine(): Promise<Engine> {
  engine ??= sharedModels().then((opened) => createWarpEngine({ models: opened }))
  return engine
}

/** The main person of a photo. */
export const personIn = keep(hashOf, async (photo: Bitmap): Promise<Person> => {
  const person = await findPerson(photo, await sharedModels())
  if (person === null) throw new Error('no person was found')
  return person
})

/** The cutout of a product photo by colour. */
export const cutOutOnce = keep(hashOf, (photo: Bitmap): CutOut => cutOut(photo))

interface Wearing {
  readonly person: Bitmap
  readonly garment: Bitmap
  readonly category?: Category | null
}

/** The result of the engine `warp`. */
export const dress = keep(
  ({ person, garment, category = null }: Wearing) => `${hashOf(person)} ${hashOf(garment)} ${category}`,
  async ({ person, garment, category = null }: Wearing): Promise<EngineResult> => {
    const options = { seed: 1, mode: 'balanced' as const }
    return (await sharedEngine()).run(
      { person, found: await personIn(person), garment, garmentHash: hashOf(garment), category, options },
      { signal: new AbortController().signal, onProgress: () => {} },
    )
  },
)

/** The hash of a bitmap's pixels. */
function hashOf({ width, height, data }: Bitmap): string {
  return createHash('sha1').update(`${width}x${height} `).update(data).digest('hex')
}

/** Remembers the last outputs of `make`. */
export function keep<Input, Output>(
  keyOf: (input: Input) => string,
  make: (input: Input) => Output,
): (input: Input) => Output {
  const kept = new Map<string, Output>()
  return (input) => {
    const key = keyOf(input)
    const output = kept.get(key) ?? make(input)
    // The first entry of the map is the one that was not used for the longest time.
    kept.delete(key)
    kept.set(key, output)
    for (const oldest of kept.keys()) if (kept.size > KEPT) kept.delete(oldest)
    return output
  }
}

/** The parts of a person, whose positions are in px of the photo. */
export async function partsOf(photo: Bitmap, person: Person): Promise<Parts> {
  const parsed = await parsePerson(createPyramid(photo), person, (await sharedModels()).session('parser'))
  return findParts(photo, person, { body: measureBody(person), parsed })
}
