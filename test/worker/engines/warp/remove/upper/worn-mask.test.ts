import { describe, expect, it } from 'vitest'
import { removeUpper } from '../../../../../../worker/engines/warp/remove/upper/remove.ts'
import { countSet, subset } from '../../../../../../worker/vision/raster/mask.ts'
import { dilate } from '../../../../../../worker/vision/raster/morphology.ts'
import { bitmapToColours } from '../../../../../../worker/vision/raster/plane.ts'
import { layOnFigure } from '../../lay-figure.ts'

async function undress(person: string, garment: string) {
  const laid = await layOnFigure({ person, garment })
  const photo = bitmapToColours(laid.figure.bitmap)
  return { ...laid, removal: removeUpper(laid.fitting, { photo, garment: laid.flat }) }
}

/** Around neck and shoulders, in squared body units: what is taken for the worn garment and is none, and what of it stays. */
async function mistakes(name: string): Promise<{ wrong: number; missed: number }> {
  const { figure, fitting, removal } = await undress(name, 'tshirt_navy')
  const { parts, body } = fitting
  const { top } = figure.parts
  const isNear = (i: number) => parts.along.data[i] < 0.1 && Math.abs(parts.across.data[i]) < 0.5
  const around = dilate(top, 3)
  const taken = dilate(removal.worn.removable, 1)
  const area = (isMistake: (i: number) => boolean) =>
    countSet(subset(figure.person, (i) => isNear(i) && isMistake(i))) / body.unit ** 2
  return {
    wrong: area((i) => removal.worn.mask.data[i] === 1 && !around.data[i]),
    missed: area((i) => top.data[i] === 1 && !taken.data[i]),
  }
}

describe('the worn garment at the neck', () => {
  it.each([
    ['is not the dark hair of a woman in white', 'mia-tee'],
    ['is not the shade between neck and hair', 'ida-jeans'],
    ['is not the hair that hangs on it', 'pia-long'],
  ])('%s', async (_what, name) => {
    expect((await mistakes(name)).wrong).toBeLessThan(0.001)
  })
})

describe('a cream roll-neck on fair skin', () => {
  it('is rejected for bare arms, and accepted under long sleeves', async () => {
    await expect(undress('zoe-roll', 'tshirt_mustard')).rejects.toMatchObject({
      code: 'RESULT_REJECTED',
      message: expect.stringContaining('colour of skin'),
    })
    expect((await undress('zoe-roll', 'longsleeve_grey')).removal.warnings).not.toContain('OLD_GARMENT_REMAINS')
  })

  it('differs from a brown top on distinguishable brown skin', async () => {
    expect((await undress('uma-tee', 'tank_green')).removal.warnings).not.toContain('OLD_GARMENT_REMAINS')
  })
})
