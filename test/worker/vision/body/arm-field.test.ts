import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readPair } from '../../../../scripts/quality/pair.ts'
import { measureArms } from '../../../../worker/vision/body/arm-field.ts'
import { measureArm } from '../../../../worker/vision/body/arm-profile.ts'
import { measureBody } from '../../../../worker/vision/body/body-frame.ts'
import { bothSides } from '../../../../worker/vision/body/keypoints.ts'
import { blendChange } from '../../../../worker/vision/composite/blend.ts'
import { dress, partsOf, personIn } from '../../../support/vision.ts'

const FIXTURES = join(import.meta.dirname, '../../../fixtures')

const pairOf = (person: string, garment: string) => readPair(FIXTURES, { person, garment, part: 'top' })

async function behindOf(person: string): Promise<boolean[]> {
  const { bitmap } = (await pairOf(person, 'tshirt_mustard')).figure
  const found = await personIn(bitmap)
  const body = measureBody(found)
  const parts = await partsOf(bitmap, found)
  const arms = bothSides((side) => measureArm(found.mask, body, side))
  return measureArms({ person: found, body, parts, arms }).map(({ behind }) => behind)
}

describe('arms behind the body', () => {
  it.each([
    ['dot-roll', [true, true]],
    ['vic-check', [false, true]],
    ['kim-long', [false, false]],
    ['oli-tee', [false, false]],
    ['abe-shirt', [false, false]],
  ])('are found on %s', async (person, expected) => {
    expect(await behindOf(person)).toEqual(expected)
  })

  it('stay behind the new garment, with LARGE_SKIN_INVENTED for bare arms', async () => {
    const { figure, garment } = await pairOf('dot-roll', 'tshirt_mustard')
    const { warnings, ...drawn } = await dress({ person: figure.bitmap, garment: garment.bitmap })
    const image = blendChange({ photo: figure.bitmap, ...drawn })
    expect(warnings).toContain('LARGE_SKIN_INVENTED')
    const colourAt = ({ x, y }: { x: number; y: number }) => {
      const k = (Math.round(y) * image.width + Math.round(x)) * image.channels
      return { red: image.data[k], green: image.data[k + 1], blue: image.data[k + 2] }
    }
    const { left_wrist, right_wrist, left_elbow, right_elbow } = figure.joints
    // Mustard cloth has hardly any blue; skin has half as much blue as red.
    for (const wrist of [left_wrist, right_wrist]) {
      const { red, blue } = colourAt(wrist)
      expect(blue).toBeLessThan(0.25 * red)
    }
    for (const elbow of [left_elbow, right_elbow]) {
      const { red, blue } = colourAt(elbow)
      expect(red).toBeGreaterThan(60)
      expect(blue).toBeGreaterThan(0.3 * red)
    }
  })
})
