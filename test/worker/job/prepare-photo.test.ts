import { beforeAll, describe, expect, it } from 'vitest'
import { decodeImage, encodeImage, resizeBitmap } from '../../../api/shared/image/image.ts'
import type { Models } from '../../../worker/inference/models.ts'
import { preparePhoto } from '../../../worker/job/prepare-photo.ts'
import { readSample } from '../../support/drape.ts'
import { sharedModels } from '../../support/vision.ts'

let models: Models
beforeAll(async () => {
  models = await sharedModels()
})

describe('a prepared photo', () => {
  it.each([
    ['persons/down-half-teal.jpg', 3000],
    ['persons/akimbo-full.jpg', 2600],
  ])('%s is cropped around the same person when it is %i px large', async (path, longest) => {
    const photo = await readSample(path)
    const bitmap = await decodeImage(photo)
    const large = await resizeBitmap(bitmap, { longest })
    const [one, other] = await Promise.all([
      preparePhoto({ photo }, { models }),
      preparePhoto({ photo: await encodeImage(large, { format: 'jpeg' }) }, { models }),
    ])
    expect(other).toMatchObject({ personDetected: true, warnings: one.warnings })
    const scale = large.width / bitmap.width
    for (const part of ['x', 'y', 'width', 'height'] as const) {
      expect(Math.abs(other.crop[part] / scale - one.crop[part])).toBeLessThan(0.02 * bitmap.height)
    }
    const { width, height } = await decodeImage(other.view)
    expect({ width, height }).toEqual({ width: 819, height: 1024 })
  })

  it('runs only the models that its crop and its warnings need', async () => {
    const used = new Set<string>()
    const session: Models['session'] = (name) => {
      used.add(name)
      return models.session(name)
    }
    await preparePhoto({ photo: await readSample('persons/down-half-teal.jpg') }, { models: { ...models, session } })
    expect([...used].sort()).toEqual(['pose_detection', 'pose_landmark_heavy'])
  })

  it('warns of a small person in a large photo only below the minimum size', async () => {
    const figure = await resizeBitmap(await decodeImage(await readSample('persons/akimbo-full.jpg')), { longest: 700 })
    const data = new Uint8Array(3000 * 2400 * 3).fill(200)
    for (let y = 0; y < figure.height; y++) {
      const row = figure.data.subarray(y * figure.width * 3, (y + 1) * figure.width * 3)
      data.set(row, ((y + 1000) * 3000 + 1200) * 3)
    }
    const photo = await encodeImage({ width: 3000, height: 2400, channels: 3, data }, { format: 'jpeg' })
    const { personDetected, warnings, crop, view } = await preparePhoto({ photo }, { models })
    expect(personDetected).toBe(true)
    expect(warnings).not.toContain('too_small')
    expect(warnings).not.toContain('blurred')
    expect(crop.x).toBeGreaterThan(1000)
    expect(crop.x + crop.width).toBeLessThan(1200 + figure.width + 200)
    // With all pixels of the photo, although the person was detected in fewer.
    expect((await decodeImage(view)).height).toBe(crop.height)
    expect(crop.height).toBeLessThan(1024)
  })
})
