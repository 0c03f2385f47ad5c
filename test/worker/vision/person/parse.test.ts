import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readPair } from '../../../../scripts/quality/pair.ts'
import { readPhoto } from '../../../../scripts/quality/photos.ts'
import type { Session } from '../../../../worker/inference/session.ts'
import { LABELS, type Label, parsePerson } from '../../../../worker/vision/person/parse.ts'
import type { LandmarkName } from '../../../../worker/vision/person/person.ts'
import { countSet, intersect, union } from '../../../../worker/vision/raster/mask.ts'
import type { Bitmap, Mask, Point } from '../../../../worker/vision/raster/plane.ts'
import { createPyramid } from '../../../../worker/vision/raster/pyramid.ts'
import { partsOf, personIn, sharedModels } from '../../../support/vision.ts'

const FIXTURES = join(import.meta.dirname, '../../../fixtures')

async function labelsIn(photo: Bitmap) {
  const person = await personIn(photo)
  const { box, shares } = await parsePerson(createPyramid(photo), person, (await sharedModels()).session('parser'))
  const { width, height } = shares.face
  const shareAt = ({ x, y }: Point, label: Label) => {
    const column = Math.floor(((x + 0.5 - box.x) / box.width) * width)
    return shares[label].data[Math.floor(((y + 0.5 - box.y) / box.height) * height) * width + column]
  }
  const between = (a: LandmarkName, b: LandmarkName, share = 0.5) => {
    const [from, to] = [person.landmarks[a], person.landmarks[b]]
    return { x: from.x + share * (to.x - from.x), y: from.y + share * (to.y - from.y) }
  }
  return { box, shares, shareAt, between }
}

const overlap = (a: Mask, b: Mask) => countSet(intersect(a, b)) / countSet(union(a, b))

describe('parsing a person', () => {
  it.each(['office-man', 'standing-man', 'garden-woman'] as const)('labels %s', async (name) => {
    const { shares, shareAt, between } = await labelsIn(await readPhoto(name))
    expect(shareAt(between('leftEye', 'mouthRight'), 'face')).toBeGreaterThan(0.9)
    expect(shareAt(between('leftElbow', 'leftWrist'), 'arms')).toBeGreaterThan(0.8)
    expect(shareAt(between('leftShoulder', 'rightHip', 0.4), 'top')).toBeGreaterThan(0.8)
    expect(shares.background.data[0]).toBeGreaterThan(0.9)
  })

  it('finds the true clothes of rendered figures', async () => {
    for (const person of ['mia-tee', 'ida-jeans', 'abe-shirt', 'vic-check', 'ada-long']) {
      const { figure } = await readPair(FIXTURES, { person, garment: 'tshirt_mustard', part: 'top' })
      const { top } = await partsOf(figure.bitmap, await personIn(figure.bitmap))
      expect(overlap(top, figure.parts.top), person).toBeGreaterThan(0.85)
    }
  })

  it('gives a spot of a shirt the label of the rest of it', async () => {
    const photo = await readPhoto('standing-man')
    const [width, height] = [64, 96]
    const data = new Float32Array(LABELS.length * width * height)
    data.fill(2, LABELS.indexOf('top') * width * height, (LABELS.indexOf('top') + 1) * width * height)
    const spot = LABELS.indexOf('dress') * width * height + 40 * width + 32
    data[spot] = 3
    const session = { run: async () => ({ labels: { data, dims: [1, LABELS.length, height, width] } }) }
    const { shares } = await parsePerson(createPyramid(photo), await personIn(photo), session as unknown as Session)
    expect(shares.top.data[40 * width + 32]).toBeGreaterThan(0.5)
  })

  it('divides each cell among the labels, also where the box exceeds the photo', async () => {
    const { box, shares } = await labelsIn(await readPhoto('grace-hopper'))
    expect(box.y + box.height).toBeGreaterThan((await readPhoto('grace-hopper')).height)
    for (const i of shares.face.data.keys())
      expect(LABELS.reduce((sum, label) => sum + shares[label].data[i], 0)).toBeCloseTo(1)
  })
})
