import { expect, it } from 'vitest'
import { poseOf } from '../../../../worker/engines/fashn-vton/keypoints.ts'
import { wholeBodyOf } from '../../../../worker/engines/fashn-vton/pose.ts'
import { LANDMARKS, type Landmark, type Person } from '../../../../worker/vision/person/person.ts'

const SIZE = { width: 400, height: 600 }
/** Each of BlazePose's points at a place of its own, all of them seen but the left knee. */
const landmarks = Object.fromEntries(
  LANDMARKS.map((name, i): [string, Landmark] => [
    name,
    { x: 10 * i + 9.5, y: 10 * i + 19.5, z: 0, visibility: name === 'leftKnee' ? 0.2 : 0.9, presence: 1 },
  ]),
) as Person['landmarks']
const placeOf = (name: (typeof LANDMARKS)[number]) => {
  const i = LANDMARKS.indexOf(name)
  return { x: 10 * i + 9, y: 10 * i + 19 }
}

it('maps BlazePose landmarks to OpenPose order, adds the neck, and omits invisible joints', () => {
  const { joints, hands, face } = poseOf([wholeBodyOf({ landmarks }, SIZE, SIZE)], SIZE)
  const [left, right] = [placeOf('leftShoulder'), placeOf('rightShoulder')]
  expect(joints).toEqual([
    placeOf('nose'),
    { x: (left.x + right.x + 1) >> 1, y: (left.y + right.y + 1) >> 1 },
    ...(['rightShoulder', 'rightElbow', 'rightWrist', 'leftShoulder', 'leftElbow', 'leftWrist'] as const).map(placeOf),
    ...(['rightHip', 'rightKnee', 'rightAnkle', 'leftHip'] as const).map(placeOf),
    null,
    ...(['leftAnkle', 'rightEye', 'leftEye', 'rightEar', 'leftEar'] as const).map(placeOf),
  ])
  expect([...hands.flat(), ...face].every((point) => point === null)).toBe(true)
})

it('scales joints to the size of the skeleton', () => {
  const half = { width: 200, height: 300 }
  const { joints } = poseOf([wholeBodyOf({ landmarks }, SIZE, half)], half)
  const { x, y } = placeOf('rightWrist')
  expect(joints[4]).toEqual({ x: Math.trunc((x + 1) / 2 - 0.5), y: Math.trunc((y + 1) / 2 - 0.5) })
})
