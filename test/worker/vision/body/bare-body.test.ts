import { describe, expect, it } from 'vitest'
import { findBareBody } from '../../../../worker/vision/body/bare-body.ts'
import { measureBody } from '../../../../worker/vision/body/body-frame.ts'
import type { Hand } from '../../../../worker/vision/person/person.ts'
import { maskWhere } from '../../../../worker/vision/raster/mask.ts'
import type { Mask, Point } from '../../../../worker/vision/raster/plane.ts'
import { drawPerson } from './drawn-person.ts'

// The left arm hangs beside the hip: the hand covers a part of the thigh.
const HANGING = { elbow: { x: 8, y: 90 }, wrist: { x: 0, y: 190 } }
const { person } = drawPerson(HANGING)
const body = measureBody(person)
const wrist = person.landmarks.leftWrist

const isIn = ({ x, y }: Point, middle: Point, radius: Point) =>
  Math.abs(x - middle.x) < radius.x && Math.abs(y - middle.y) < radius.y

const pointOf = (i: number, { width }: Mask): Point => ({ x: i % width, y: Math.floor(i / width) })

// The pixels of the hand: 30 × 50 px from the wrist down.
const handMiddle = { x: wrist.x, y: wrist.y + 25 }
const inHand = (point: Point) => isIn(point, handMiddle, { x: 15, y: 25 })

function handAt(at: Point): Hand {
  const share = maskWhere({ width: 61, height: 61 }, (i) =>
    inHand({ x: at.x - 30 + (i % 61), y: at.y - 5 + Math.floor(i / 61) }),
  )
  return {
    points: Array.from({ length: 21 }, () => at),
    share: { ...share, data: Float32Array.from(share.data) },
    first: { x: at.x - 30, y: at.y - 5 },
    last: { x: at.x + 30, y: at.y + 55 },
  }
}

function skinOf(isSkin: (point: Point) => boolean): Mask {
  const { width, height } = person.mask
  const mask = { width, height, data: new Uint8Array(width * height) }
  for (let i = 0; i < mask.data.length; i++) mask.data[i] = isSkin(pointOf(i, mask)) ? 1 : 0
  return mask
}

const isThigh = ({ x, y }: Point) => y > 400 && y < 560 && x > 250 && x < 330
const covered = { ...person, mask: { ...person.mask, data: person.mask.data.map(() => 1) } }

describe('findBareBody', () => {
  const bare = skinOf((point) => isThigh(point) || inHand(point))

  it('finds the thigh behind a hand, but not the hand', () => {
    const found = findBareBody({ ...covered, hands: [handAt(wrist)] }, bare, body)
    const at = (x: number, y: number) => found.data[Math.round(y) * found.width + Math.round(x)]
    expect(at(handMiddle.x, handMiddle.y)).toBe(0)
    expect(at(handMiddle.x - 24, handMiddle.y + 20)).toBe(1)
  })

  it('keeps fingers that the outline of the hand misses', () => {
    const fingers = skinOf((point) => inHand(point) || isIn(point, { x: wrist.x, y: wrist.y + 54 }, { x: 6, y: 8 }))
    const found = findBareBody({ ...covered, hands: [handAt(wrist)] }, fingers, body)
    expect(found.data.includes(1)).toBe(false)
  })

  it('finds nothing without the outline of a hand', () => {
    expect(findBareBody(covered, bare, body).data.includes(1)).toBe(false)
  })
})
