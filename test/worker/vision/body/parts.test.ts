import { describe, expect, it } from 'vitest'
import { countSet, maskWhere } from '../../../../worker/vision/raster/mask.ts'
import type { Mask } from '../../../../worker/vision/raster/plane.ts'
import { fillCapsules } from '../../../../worker/vision/raster/polygon.ts'
import { ARMS_BENT, COLOURS, drawPerson, labelsOf, partsOf } from './drawn-person.ts'

const overlap = (a: Mask, b: Mask) => {
  const shared = maskWhere(a, (i) => a.data[i] === 1 && b.data[i] === 1)
  const either = maskWhere(a, (i) => a.data[i] === 1 || b.data[i] === 1)
  return countSet(shared) / countSet(either)
}

const NAMES = [
  ['skin', 'arms'],
  ['top', 'top'],
  ['lower', 'bottom'],
  ['hair', 'hair'],
] as const

describe('findParts', () => {
  const drawn = drawPerson()
  const parts = partsOf(drawn.photo, drawn.person)

  it.each(['skin', 'top', 'lower', 'hair'] as const)('finds the drawn %s', (part) => {
    expect(overlap(parts[part], drawn.drawn[part])).toBeGreaterThan(0.93)
  })

  it('assigns each pixel of the person at most one part, and the background none', () => {
    const labelled = (i: number) => parts.skin.data[i] + parts.top.data[i] + parts.lower.data[i] + parts.hair.data[i]
    const wrong = maskWhere(parts.skin, (i) => labelled(i) > (drawn.person.mask.data[i] > 0.5 ? 1 : 0))
    expect(countSet(wrong)).toBe(0)
  })

  it('measures the skin color', () => {
    const [l, a, b] = parts.skinColour ?? [0, 0, 0]
    // CIE Lab of the drawn skin's sRGB (205, 150, 125).
    expect(Math.hypot(l - 66.4, a - 17.2, b - 21.9)).toBeLessThan(3)
    expect(parts.hasFace).toBe(true)
  })

  it('separates black hair from a black top by their labels alone', () => {
    const black = drawPerson(ARMS_BENT, { top: COLOURS.hair })
    const { photo, person, drawn: known } = black
    const labels = labelsOf(photo, (i) => NAMES.find(([part]) => known[part].data[i])?.[1] ?? 'background')
    const { top, hair } = partsOf(photo, person, { labels })
    expect(overlap(top, known.top)).toBeGreaterThan(0.9)
    expect(overlap(hair, known.hair)).toBeGreaterThan(0.9)
  })

  it('does not learn the colours of skin from cloth that is labelled as a neck', () => {
    const grey = drawPerson(ARMS_BENT, { top: [150, 150, 150] })
    const { photo, person, drawn: known } = grey
    const labels = labelsOf(photo, (i) => NAMES.find(([part]) => known[part].data[i])?.[1] ?? 'background')
    const { top, neck } = labels.shares
    const end = (top.height * (person.landmarks.leftShoulder.y + 60)) / photo.height
    for (let i = 0; i < end * top.width; i++) {
      neck.data[i] = 0.8 * top.data[i]
      top.data[i] *= 0.2
    }
    expect(overlap(partsOf(photo, person, { labels }).top, known.top)).toBeGreaterThan(0.9)
  })

  it('moves the edge of a garment to its colours, where the labels are off by half a cell', () => {
    const labels = labelsOf(drawn.photo)
    const { box } = labels
    const { top } = partsOf(drawn.photo, drawn.person, { labels: { ...labels, box: { ...box, y: box.y + 4 } } })
    expect(overlap(top, drawn.drawn.top)).toBeGreaterThan(0.93)
  })

  it('counts neither what a person carries nor shoes to the clothes', () => {
    const bag = (i: number) => i % 480 > 190 && i % 480 < 240 && Math.floor(i / 480) > 280 && Math.floor(i / 480) < 340
    const data = drawn.photo.data.map((value, k) => (bag(Math.floor(k / 3)) ? 220 : value))
    const photo = { ...drawn.photo, data }
    const { shares } = labelsOf(photo)
    const carried = labelsOf(photo, (i) => (bag(i) ? 'accessory' : 'background')).shares.accessory
    const top = { ...shares.top, data: shares.top.data.map((share, i) => Math.max(0, share - carried.data[i])) }
    const labels = { box: labelsOf(photo).box, shares: { ...shares, top, accessory: carried } }
    const seen = partsOf(photo, drawn.person, { labels })
    const all = [seen.top, seen.lower, seen.skin, seen.hair]
    const taken = maskWhere(photo, (i) => bag(i) && all.some(({ data }) => data[i] === 1))
    expect(countSet(taken)).toBeLessThan(0.1 * countSet(maskWhere(photo, bag)))
  })

  it('counts a tie to the clothes', () => {
    const tie = (i: number) => i % 480 > 232 && i % 480 < 248 && Math.floor(i / 480) > 190 && Math.floor(i / 480) < 250
    const { person, photo, drawn: known } = drawn
    const labels = labelsOf(photo, (i) =>
      tie(i) ? 'accessory' : (NAMES.find(([part]) => known[part].data[i])?.[1] ?? 'background'),
    )
    const { top } = partsOf(photo, person, { labels })
    expect(countSet(maskWhere(photo, (i) => tie(i) && top.data[i] === 0))).toBe(0)
  })

  it('divides a dress into a top and a lower garment at the waist', () => {
    const { person, photo, drawn: known } = drawn
    const isDress = (i: number) => known.top.data[i] + known.lower.data[i] > 0
    const { top, lower, along } = partsOf(photo, person, {
      labels: labelsOf(photo, (i) => (isDress(i) ? 'dress' : 'arms')),
    })
    const found = [...top.data.keys()].filter((i) => top.data[i] + lower.data[i] > 0)
    expect(found.filter((i) => (along.data[i] < 0.8 ? top : lower).data[i] === 0)).toEqual([])
    expect(countSet(lower)).toBeGreaterThan(5000)
  })

  it('counts the sleeves of a dress to the top, also below the waist', () => {
    const { person, photo, drawn: known } = drawPerson({ elbow: { x: 30, y: 95 }, wrist: { x: 34, y: 190 } })
    const { leftElbow, leftWrist } = person.landmarks
    const sleeve = fillCapsules(photo, [leftElbow, leftWrist], [14, 12])
    for (const [i, isSleeve] of sleeve.data.entries()) if (isSleeve) photo.data.set(COLOURS.lower, 3 * i)
    const isDress = (i: number) => known.top.data[i] + known.lower.data[i] + sleeve.data[i] > 0
    const { top, lower, along } = partsOf(photo, person, {
      labels: labelsOf(photo, (i) => (isDress(i) ? 'dress' : 'arms')),
    })
    const cuff = Math.round(leftWrist.y - 20) * photo.width + Math.round(leftWrist.x)
    expect(along.data[cuff]).toBeGreaterThan(0.8)
    expect([top.data[cuff], lower.data[cuff]]).toEqual([1, 0])
    // The other arm is bare.
    const knee = Math.round(person.landmarks.rightKnee.y - 20) * photo.width + Math.round(person.landmarks.rightKnee.x)
    expect([top.data[knee], lower.data[knee]]).toEqual([0, 1])
  })

  it('measures positions in body coordinates', () => {
    const at = (x: number, y: number) => y * 480 + x
    expect(parts.along.data[at(240, 200)]).toBeCloseTo(0)
    expect(parts.along.data[at(100, 360)]).toBeCloseTo(1)
    expect(parts.across.data[at(300, 500)]).toBeCloseTo(0.5)
    expect(parts.across.data[at(180, 90)]).toBeCloseTo(-0.5)
  })
})
