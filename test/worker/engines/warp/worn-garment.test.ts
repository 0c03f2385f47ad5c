import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type KnownFigure, readPair } from '../../../../scripts/quality/pair.ts'
import { measureBody } from '../../../../worker/engines/warp/body.ts'
import { findParts } from '../../../../worker/engines/warp/parts.ts'
import { placeGarment } from '../../../../worker/engines/warp/place.ts'
import { findRegions } from '../../../../worker/engines/warp/regions.ts'
import { findWornGarment } from '../../../../worker/engines/warp/worn-garment.ts'
import { prepareGarment } from '../../../../worker/garment/prepare-garment.ts'
import { type Models, openModels } from '../../../../worker/inference/models.ts'
import { findPerson } from '../../../../worker/person/find-person.ts'
import { rgbToLab } from '../../../../worker/raster/colour.ts'
import { fillMembrane } from '../../../../worker/raster/membrane.ts'
import { dilate } from '../../../../worker/raster/morphology.ts'
import { bitmapToColours, countSet, invert, subset } from '../../../../worker/raster/plane.ts'
import { reduceMasked } from '../../../../worker/raster/reduce.ts'

const FIXTURES = join(import.meta.dirname, '../../../fixtures')

let models: Models
beforeAll(async () => {
  models = await openModels('worker/models')
})
afterAll(() => models.release())

/** Around neck and shoulders, in squared body units: what is taken for the worn garment and is none, and what of it stays. */
async function mistakes(name: string): Promise<{ wrong: number; missed: number }> {
  const { figure, garment } = await readPair(FIXTURES, { person: name, garment: 'tshirt_navy', part: 'top' })
  const prepared = prepareGarment(garment.picture, { category: 'tops' })
  if (prepared.kind !== 'top') throw new Error(`a ${prepared.kind}`)
  const person = await findPerson(figure.picture, models)
  if (!person) throw new Error('nobody was found')
  const body = measureBody(person)
  const parts = findParts(figure.picture, person, body)
  const fitting = { person, body, parts, placement: placeGarment({ person, body, parts, garment: prepared }) }
  const worn = findWornGarment({ ...fitting, regions: findRegions(fitting) }, groundOf(figure, 4))
  const { top } = figure.parts
  const isNear = (i: number) => parts.along.data[i] < 0.1 && Math.abs(parts.across.data[i]) < 0.5
  const around = dilate(top, 3)
  const taken = dilate(worn.removable, 1)
  const area = (isMistake: (i: number) => boolean) =>
    countSet(subset(figure.person, (i) => isNear(i) && isMistake(i))) / body.unit ** 2
  return {
    wrong: area((i) => worn.mask.data[i] === 1 && !around.data[i]),
    missed: area((i) => top.data[i] === 1 && !taken.data[i]),
  }
}

function groundOf({ picture, person }: KnownFigure, factor: number) {
  const { colours, weight } = reduceMasked(bitmapToColours(picture), invert(dilate(person, 4)), factor)
  return { cells: rgbToLab(fillMembrane(colours, weight, 40)), factor }
}

describe('the worn garment at the neck', () => {
  it.each([
    ['is not the dark hair of a woman in white', 'mia-tee'],
    ['is not the shade between neck and hair', 'ida-jeans'],
    ['is not the hair that hangs on it', 'pia-long'],
  ])('%s', async (_what, name) => {
    expect((await mistakes(name)).wrong).toBeLessThan(0.001)
  })

  it('includes the inside of its collar, though that is as dark as the hair', async () => {
    expect((await mistakes('ray-white')).missed).toBeLessThan(0.002)
  })
})
