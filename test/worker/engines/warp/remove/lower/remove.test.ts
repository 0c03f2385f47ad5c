import { describe, expect, it } from 'vitest'
import { findWornLower } from '../../../../../../worker/engines/warp/fit/lower/worn-mask.ts'
import { removeLower } from '../../../../../../worker/engines/warp/remove/lower/remove.ts'
import { measureBody } from '../../../../../../worker/vision/body/body-frame.ts'
import { bothSides } from '../../../../../../worker/vision/body/keypoints.ts'
import { measureLegFields } from '../../../../../../worker/vision/body/leg-field.ts'
import { measureLeg } from '../../../../../../worker/vision/body/leg-profile.ts'
import type { Parts } from '../../../../../../worker/vision/body/parts.ts'
import { maskWhere, subset } from '../../../../../../worker/vision/raster/mask.ts'
import { bitmapToColours, createPlane } from '../../../../../../worker/vision/raster/plane.ts'
import { COLOURS, drawPerson, partsOf } from '../../../../vision/body/drawn-person.ts'

const { person, photo } = drawPerson()
const body = measureBody(person)
const parts = partsOf(photo, person)

/** Takes the drawn trousers away below a garment that ends at the row `hem`. */
function undress(hem: number, changes: Partial<Parts> = {}) {
  const legs = bothSides((side) => measureLeg(person, body, { side }))
  const cover = createPlane(photo)
  for (let i = 0; i < cover.data.length; i++) {
    const [x, y] = [i % photo.width, Math.floor(i / photo.width)]
    if (y > 350 && y < hem && Math.abs(x - 240) < 90) cover.data[i] = 1
  }
  const covered = bothSides(() => hem - 360)
  const placed = {
    person,
    body,
    parts: { ...parts, ...changes },
    legs,
    covered,
    fields: measureLegFields(parts.lower, legs, body),
  }
  const input = { ...placed, worn: findWornLower(placed) }
  return removeLower(input, { photo: bitmapToColours(photo), cover, allowed: () => true })
}

type Removed = ReturnType<typeof undress>
const colourAt = ({ layer }: Removed, x: number, y: number) =>
  Array.from(layer.data.subarray((y * 480 + x) * 4, (y * 480 + x) * 4 + 4))
const apart = (colour: readonly number[], known: readonly number[]) =>
  Math.hypot(...known.map((value, c) => colour[c] - value))

describe('worn trousers below a shorter garment', () => {
  it('are replaced by bare legs and background', () => {
    const removed = undress(480)
    for (const x of [202, 278]) {
      const shin = colourAt(removed, x, 600)
      expect(shin[3]).toBe(255)
      expect(apart(shin, COLOURS.skin)).toBeLessThan(30)
    }
    expect(apart(colourAt(removed, 296, 640), COLOURS.background)).toBeLessThan(20)
    expect(removed.warnings).toContain('LARGE_SKIN_INVENTED')
  })

  it('are replaced by legs in skin color above white shoes', () => {
    const shoes = subset(parts.lower, (i) => i > 640 * photo.width)
    const lab = { ...parts.lab, data: parts.lab.data.slice() }
    for (let i = 0; i < shoes.data.length; i++) if (shoes.data[i]) lab.data.set([85, 0, 0], i * 3)
    const skin = maskWhere(shoes, (i) => shoes.data[i] === 1 || parts.skin.data[i] === 1)
    const removed = undress(480, { lab, skin, lower: subset(parts.lower, (i) => !shoes.data[i]) })
    expect(apart(colourAt(removed, 202, 580), COLOURS.skin)).toBeLessThan(30)
  })

  it('are not changed under the new garment', () => {
    const removed = undress(480)
    expect(colourAt(removed, 202, 440)[3]).toBe(0)
    expect(undress(720).layer.data.every((value) => value === 0)).toBe(true)
  })

  it('cannot be removed when no skin is visible', () => {
    expect(() => undress(480, { skinColour: null })).toThrow(expect.objectContaining({ code: 'RESULT_REJECTED' }))
  })
})
