import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { decodeImage } from '../../../../api/shared/image.ts'
import { findInpaintRegion } from '../../../../worker/engines/catvton/inpaint-region.ts'
import type { TrainedCategory } from '../../../../worker/engines/diffusion/category.ts'
import { type Models, openModels } from '../../../../worker/inference/models.ts'
import { findPerson } from '../../../../worker/person/find-person.ts'
import { countSet, type Mask, maskWhere } from '../../../../worker/raster/plane.ts'

const PERSONS = new URL('../../../fixtures/persons/', import.meta.url)
/** Levels of grey of NAME-parts.png. */
const PARTS = { background: 0, top: 85, lower: 170 }

describe('the region that CatVTON inpaints', () => {
  let models: Models
  beforeAll(async () => {
    models = await openModels(resolve(import.meta.dirname, '../../../../worker/models'))
  })
  afterAll(() => models?.release())

  it.each<[name: string, category: TrainedCategory, worn: ('top' | 'lower')[], other: ('top' | 'lower')[]]>([
    ['mia-tee', 'tops', ['top'], ['lower']],
    ['mia-tee', 'bottoms', ['lower'], ['top']],
    ['ben-long', 'tops', ['top'], ['lower']],
    ['ada-skirt', 'bottoms', ['lower'], ['top']],
    ['cleo-dress', 'one-pieces', ['top', 'lower'], []],
  ])('of %s for %s covers what is worn there and leaves the face and the rest', async (name, category, worn, other) => {
    const bitmap = await decodeImage(await readFile(new URL(`${name}.jpg`, PERSONS)))
    const parts = await decodeImage(await readFile(new URL(`${name}-parts.png`, PERSONS)))
    const { joints } = JSON.parse(await readFile(new URL(`${name}.json`, PERSONS), 'utf8'))
    const person = await findPerson(bitmap, models)
    if (!person) throw new Error('no person was found')
    const region = findInpaintRegion(bitmap, person, category)

    const partMask = (part: keyof typeof PARTS) =>
      maskWhere(bitmap, (i) => Math.abs(parts.data[i * parts.channels] - PARTS[part]) < 20)
    for (const part of worn) {
      const mask = partMask(part)
      if (countSet(mask) > 0) expect(shareIn(mask, region), part).toBeGreaterThan(0.98)
    }
    for (const part of other) expect(shareIn(partMask(part), region), part).toBeLessThan(0.1)
    expect(shareIn(partMask('background'), region)).toBeLessThan(0.15)
    for (const joint of ['nose', 'left_eye', 'right_eye']) {
      const { x, y } = joints[joint]
      expect(region.data[Math.round(y) * bitmap.width + Math.round(x)], joint).toBe(0)
    }
  })
})

function shareIn(part: Mask, region: Mask): number {
  return countSet(maskWhere(part, (i) => part.data[i] === 1 && region.data[i] === 1)) / countSet(part)
}
