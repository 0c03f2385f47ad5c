import { expect, it } from 'vitest'
import { composeLower } from '../../../../../../worker/engines/warp/compose/lower/compose.ts'
import { fitLower } from '../../../../../../worker/engines/warp/fit/lower/fit.ts'
import { removeLower } from '../../../../../../worker/engines/warp/remove/lower/remove.ts'
import { measureBody } from '../../../../../../worker/vision/body/body-frame.ts'
import { forearmMask } from '../../../../../../worker/vision/body/forearms.ts'
import { createView } from '../../../../../../worker/vision/body/view.ts'
import { countSet, maskWhere, subset } from '../../../../../../worker/vision/raster/mask.ts'
import { bitmapToColours, type Mask } from '../../../../../../worker/vision/raster/plane.ts'
import { COLOURS, type DrawnPerson, drawPerson, labelsOf, partsOf } from '../../../../vision/body/drawn-person.ts'
import { readGarment } from '../../../../vision/garment/known-garments.ts'
import { prepareGarment } from '../../../../vision/garment/prepare-by-outline.ts'

// An opaque garment over the whole photo: uncovered pixels are in front of it.
async function coveredShare(
  beside: (arms: Mask, lower: Mask) => Mask,
  { topUntil = Number.POSITIVE_INFINITY, isPatterned = false } = {},
): Promise<number> {
  const drawn = drawPerson({ elbow: { x: 8, y: 84 }, wrist: { x: 6, y: 168 } })
  if (isPatterned) drawChecks(drawn)
  const view = await createView(drawn.photo, drawn.person, { long: true })
  const { person, analysed } = view
  const body = measureBody(person)
  const seen = partsOf(analysed, person)
  const arms = subset(forearmMask(analysed, body), (i) => person.mask.data[i] > 0.5)
  const patch = beside(arms, seen.lower)
  const isTop = (i: number) => seen.along.data[i] < topUntil
  const parts = {
    ...seen,
    lower: maskWhere(patch, (i) => (patch.data[i] ? !isTop(i) : seen.lower.data[i] === 1)),
    skin: subset(seen.skin, (i) => !patch.data[i]),
    top: maskWhere(patch, (i) => (patch.data[i] ? isTop(i) : seen.top.data[i] === 1)),
  }
  const trousers = prepareGarment((await readGarment('jeans_blue')).bitmap, { category: 'bottoms' })
  if (trousers.kind !== 'trousers') throw new Error(`seen as ${trousers.kind}`)
  const fitting = fitLower({ long: true, view, person, body, parts, labels: labelsOf(analysed) }, trousers)
  const photo = bitmapToColours(analysed)
  const pixels = analysed.width * analysed.height
  const cover = { width: analysed.width, height: analysed.height, data: new Float32Array(pixels).fill(1) }
  const removal = removeLower(fitting, { photo, cover, allowed: () => true })
  const piece = { ...analysed, channels: 4 as const, data: new Uint8ClampedArray(pixels * 4).fill(255) }
  const { change } = composeLower(fitting, { photo: analysed, pieces: [piece], cover, removal })
  return countSet(subset(patch, (i) => change.data[i] > 0.5)) / countSet(patch)
}

// Half of the arms' cloth has the colour of the trousers.
function drawChecks({ photo, drawn }: DrawnPerson): void {
  for (let i = 0; i < drawn.skin.data.length; i++) {
    const [column, row] = [(i % photo.width) >> 3, Math.floor(i / photo.width) >> 3]
    if (drawn.skin.data[i] && row > 35 && (column + row) % 2 === 0) photo.data.set(COLOURS.lower, 3 * i)
  }
}

it('covers worn trousers beside bare forearms, whatever their label', async () => {
  expect(await coveredShare((arms, lower) => subset(lower, (i) => arms.data[i] === 1))).toBeGreaterThan(0.7)
})

it('keeps long sleeves in front of new trousers', async () => {
  const sleeves = await coveredShare((arms) => arms)
  expect(sleeves).toBeLessThan(0.03)
})

it('keeps long sleeves in the color of the worn trousers in front of new trousers', async () => {
  const beside = (arms: Mask, lower: Mask) => subset(arms, (i) => lower.data[i] === 0)
  const sleeves = await coveredShare(beside, { topUntil: 0.95 })
  expect(sleeves).toBeLessThan(0.1)
})

it('keeps long sleeves with a pattern in the color of the worn trousers in front of new trousers', async () => {
  const beside = (arms: Mask, lower: Mask) => subset(arms, (i) => lower.data[i] === 0)
  const sleeves = await coveredShare(beside, { topUntil: 0.8, isPatterned: true })
  expect(sleeves).toBeLessThan(0.2)
})
