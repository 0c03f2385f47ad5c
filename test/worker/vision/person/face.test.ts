import { describe, expect, it } from 'vitest'
import { findPerson } from '../../../../worker/vision/person/find-person.ts'
import type { Person } from '../../../../worker/vision/person/person.ts'
import type { Bitmap, Point } from '../../../../worker/vision/raster/plane.ts'
import { fillPolygon } from '../../../../worker/vision/raster/polygon.ts'
import { personIn, sharedModels } from '../../../support/vision.ts'
import { readBitmap, turned } from './figures.ts'

async function faceIn(bitmap: Bitmap): Promise<{ person: Person; face: readonly Point[] }> {
  const person = await personIn(bitmap)
  if (!person.face) throw new Error('no face was found')
  return { person, face: person.face }
}

const sample = (name: string) => readBitmap(`scripts/samples/persons/${name}.jpg`)

describe.each(['astronaut', 'grace-hopper', 'down-half-teal'])('the face of %s', (name) => {
  it('has eyes, nose and mouth in its outline, and neither ears, neck nor shoulders', async () => {
    const bitmap = await sample(name)
    const { person, face } = await faceIn(bitmap)
    const { landmarks } = person
    const inside = fillPolygon(bitmap, face)
    const has = ({ x, y }: Point) => inside.data[Math.round(y) * bitmap.width + Math.round(x)] === 1
    for (const part of ['leftEye', 'rightEye', 'nose', 'mouthLeft', 'mouthRight'] as const)
      expect.soft(has(landmarks[part]), part).toBe(true)
    for (const part of ['leftShoulder', 'rightShoulder'] as const) expect.soft(has(landmarks[part]), part).toBe(false)
    const mouth = (landmarks.mouthLeft.y + landmarks.mouthRight.y) / 2
    const eyes = (landmarks.leftEye.y + landmarks.rightEye.y) / 2
    const chin = Math.max(...face.map(({ y }) => y))
    expect((chin - mouth) / (mouth - eyes)).toBeGreaterThan(0.4)
    expect((chin - mouth) / (mouth - eyes)).toBeLessThan(1)
  })
})

it('is found at the same position in a rotated image', async () => {
  const bitmap = await sample('astronaut')
  const { face } = await faceIn(bitmap)
  const side = turned({ bitmap, joints: [] }, 1).bitmap
  const again = await faceIn(side)
  const width = Math.max(...face.map(({ x }) => x)) - Math.min(...face.map(({ x }) => x))
  for (const [i, { x, y }] of face.entries()) {
    const expected = { x: bitmap.height - 1 - y, y: x }
    expect(Math.hypot(again.face[i].x - expected.x, again.face[i].y - expected.y)).toBeLessThan(0.06 * width)
  }
})

it('is not detected when covered', async () => {
  const bitmap = await sample('astronaut')
  const { face } = await faceIn(bitmap)
  const [left, right] = [Math.min(...face.map(({ x }) => x)), Math.max(...face.map(({ x }) => x))]
  const [top, bottom] = [Math.min(...face.map(({ y }) => y)), Math.max(...face.map(({ y }) => y))]
  const covered: Bitmap = { ...bitmap, data: bitmap.data.slice() }
  for (let y = Math.round(top) - 20; y < bottom + 10; y++)
    for (let x = Math.round(left) - 20; x < right + 20; x++)
      covered.data.fill(120, (y * bitmap.width + x) * 3, (y * bitmap.width + x) * 3 + 3)
  expect((await findPerson(covered, await sharedModels()))?.face ?? null).toBeNull()
})
