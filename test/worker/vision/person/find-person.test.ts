import { beforeAll, describe, expect, it } from 'vitest'
import type { Models } from '../../../../worker/inference/models.ts'
import { findPerson } from '../../../../worker/vision/person/find-person.ts'
import type { LandmarkName, Person } from '../../../../worker/vision/person/person.ts'
import type { Bitmap, Point } from '../../../../worker/vision/raster/plane.ts'
import { personIn, sharedModels } from '../../../support/vision.ts'
import { FIGURES, type Figure, paste, plainBitmap, readBitmap, readFigure, turned } from './figures.ts'

let models: Models
beforeAll(async () => {
  models = await sharedModels()
})

const found = (person: Person | null): Person => {
  if (person === null) throw new Error('no person was found')
  return person
}

describe.each(FIGURES)('the figure %s', (name) => {
  let figure: Figure
  let person: Person
  beforeAll(async () => {
    figure = await readFigure(name)
    person = await personIn(figure.bitmap)
  })

  it('is detected as one person with high confidence', () => {
    expect(person.people).toBe(1)
    expect(person.score).toBeGreaterThan(0.9)
    expect(person.presence).toBeGreaterThan(0.9)
  })

  it('has joints within 1.5 % of the body height (median) and 2.6 % (max)', () => {
    const errors = figure.joints
      .map(([landmark, { x, y }]) => Math.hypot(person.landmarks[landmark].x - x, person.landmarks[landmark].y - y))
      .map((distance) => (100 * distance) / figure.bodyHeight)
      .sort((a, b) => a - b)
    expect(errors[errors.length >> 1]).toBeLessThan(1.5)
    expect(errors[errors.length - 1]).toBeLessThan(2.6)
  })

  it('is covered by the mask with an IoU of at least 0.985', () => {
    const { data } = person.mask
    let both = 0
    let either = 0
    for (let i = 0; i < data.length; i++) {
      const seen = data[i] > 0.5 ? 1 : 0
      both += seen & figure.mask.data[i]
      either += seen | figure.mask.data[i]
    }
    expect(both / either).toBeGreaterThanOrEqual(0.985)
  })

  it('fits its box within a few pixels, including hair and feet', () => {
    const { x, y, width, height } = person.box
    expect(Math.abs(x - figure.box.left)).toBeLessThanOrEqual(8)
    expect(Math.abs(y - figure.box.top)).toBeLessThanOrEqual(4)
    expect(Math.abs(x + width - figure.box.right)).toBeLessThanOrEqual(8)
    expect(Math.abs(y + height - figure.box.bottom)).toBeLessThanOrEqual(4)
  })
})

const jointError = (person: Person, joints: readonly (readonly [LandmarkName, Point])[]) =>
  Math.max(...joints.map(([name, { x, y }]) => Math.hypot(person.landmarks[name].x - x, person.landmarks[name].y - y)))

describe('the main person', () => {
  it('is found at the right position at an eighth of the image height', async () => {
    const figure = await readFigure('walk-full')
    const bitmap = plainBitmap({ width: 1600, height: 1200 })
    const { joints, bodyHeight } = paste(bitmap, figure, { height: 150, x: 1300, y: 250 })
    const person = found(await findPerson(bitmap, models))
    expect(jointError(person, joints)).toBeLessThan(0.035 * bodyHeight)
    expect(person.box.height).toBeGreaterThan(140)
    expect(person.box.height).toBeLessThan(160)
  })

  it('is the larger of two people, and the mask excludes the other', async () => {
    const bitmap = plainBitmap({ width: 1200, height: 900 })
    const smaller = paste(bitmap, await readFigure('walk-full'), { height: 550, x: 900, y: 300 })
    const larger = paste(bitmap, await readFigure('apose-full'), { height: 700, x: 100, y: 150 })
    const person = found(await findPerson(bitmap, models))
    expect(person.people).toBe(2)
    expect(jointError(person, larger.joints)).toBeLessThan(0.03 * larger.bodyHeight)
    for (const [, { x, y }] of smaller.joints) expect(person.mask.data[Math.round(y) * 1200 + Math.round(x)]).toBe(0)
  })

  it('is found lying or upside down', async () => {
    const figure = await readFigure('apose-full')
    for (const quarters of [1, 2]) {
      const { bitmap, joints } = turned(figure, quarters)
      const person = found(await findPerson(bitmap, models))
      expect(jointError(person, joints)).toBeLessThan(0.03 * figure.bodyHeight)
    }
  })

  it('is found from the side, bent over a camera', async () => {
    const person = await personIn(await readBitmap('scripts/samples/persons/photographer.jpg'))
    // The visible ear is at about 210, the hair at (220, 90), grass at (450, 300).
    expect(person.landmarks.rightEar.x).toBeGreaterThan(190)
    expect(person.landmarks.rightEar.x).toBeLessThan(240)
    expect(person.mask.data[90 * 512 + 220]).toBeGreaterThan(0.95)
    expect(person.mask.data[300 * 512 + 450]).toBe(0)
  })

  it('is deterministic', async () => {
    const { bitmap } = await readFigure('crossed-half')
    expect(await findPerson(bitmap, models)).toEqual(await personIn(bitmap))
  })
})

// Measured by eye in the photographs.
const PORTRAITS: readonly [
  string,
  Partial<Record<LandmarkName, Point>>,
  Partial<Record<'hair' | 'background', Point>>,
][] = [
  [
    'astronaut',
    {
      rightEye: { x: 203, y: 101 },
      leftEye: { x: 247, y: 104 },
      mouthRight: { x: 204, y: 141 },
      nose: { x: 224, y: 124 },
    },
    { hair: { x: 220, y: 25 }, background: { x: 380, y: 150 } },
  ],
  [
    'grace-hopper',
    {
      rightEye: { x: 222, y: 190 },
      leftEye: { x: 305, y: 187 },
      mouthRight: { x: 230, y: 279 },
      nose: { x: 267, y: 235 },
    },
    { hair: { x: 270, y: 40 }, background: { x: 440, y: 120 } },
  ],
]

describe.each(PORTRAITS)('the portrait %s', (name, face, { hair, background }) => {
  let person: Person
  beforeAll(async () => {
    person = await personIn(await readBitmap(`scripts/samples/persons/${name}.jpg`))
  })

  it('has eyes, nose and mouth within a quarter of the distance between the eyes', () => {
    const { leftEye, rightEye } = person.landmarks
    const tolerance = 0.25 * Math.hypot(leftEye.x - rightEye.x, leftEye.y - rightEye.y)
    expect(jointError(person, Object.entries(face) as [LandmarkName, Point][])).toBeLessThan(tolerance)
  })

  it('includes hat and hair in its mask, and excludes the background', () => {
    const at = ({ x, y }: Point) => person.mask.data[y * person.mask.width + x]
    expect(hair && at(hair)).toBeGreaterThan(0.95)
    expect(background && at(background)).toBe(0)
  })

  it('has estimated hips below the frame, with low confidence', () => {
    expect(person.landmarks.leftKnee.visibility).toBeLessThan(0.5)
    expect(person.landmarks.leftKnee.y).toBeGreaterThan(person.mask.height)
  })
})

describe('people beside the main person', () => {
  const crowd = async (...people: [name: (typeof FIGURES)[number], height: number, x: number][]) => {
    const bitmap = plainBitmap({ width: 1200, height: 900 })
    for (const [name, height, x] of people) paste(bitmap, await readFigure(name), { height, x, y: 880 - height })
    return found(await findPerson(bitmap, models, { count: true }))
  }

  it('are counted at the same size and at half of it', async () => {
    expect((await crowd(['apose-full', 800, 100], ['walk-full', 760, 750])).people).toBe(2)
    expect((await crowd(['apose-full', 800, 100], ['walk-full', 420, 800])).people).toBe(2)
  })

  it('are none for a single person', async () => {
    expect((await crowd(['walk-full', 700, 500])).people).toBe(1)
    const { bitmap } = await readFigure('crossed-half')
    expect(found(await findPerson(bitmap, models, { count: true })).people).toBe(1)
  })
})

describe('no person', () => {
  it.each(['longsleeve-grey', 'trousers-black'])('is seen in the product photo %s', async (name) => {
    expect(await findPerson(await readBitmap(`scripts/samples/garments/${name}.jpg`), models)).toBeNull()
  })

  it.each([
    { width: 1, height: 1 },
    { width: 10, height: 10_000 },
    { width: 10_000, height: 10 },
    { width: 640, height: 480 },
  ])('is seen in a plain image of %j px', async (size) => {
    expect(await findPerson(plainBitmap(size), models)).toBeNull()
  })

  it('is detected in clothes, arms and hands without a head', async () => {
    const { bitmap } = await readFigure('heavy-half')
    const { width, height, data } = bitmap
    const headless: Bitmap = { ...bitmap, height: height - 330, data: data.slice(330 * width * 3) }
    expect(await findPerson(headless, models)).toBeNull()
  })

  it('is detected in noise', async () => {
    const noise: Bitmap = { ...plainBitmap({ width: 600, height: 750 }) }
    for (let i = 0, state = 1; i < noise.data.length; i++) {
      state = (state * 48_271) % 2_147_483_647
      noise.data[i] = state & 255
    }
    expect(await findPerson(noise, models)).toBeNull()
  })
})
