import { readFile } from 'node:fs/promises'
import { beforeAll, describe, expect, it } from 'vitest'
import { decodeImage } from '../../../../api/shared/image/image.ts'
import type { Models } from '../../../../worker/inference/models.ts'
import { classifyExposure, EXPOSURE_MODEL, toInput } from '../../../../worker/outputs/safety/exposure.ts'
import { readSample } from '../../../support/drape.ts'
import { mistakenShapes } from '../../../support/mistaken-shapes.ts'
import { sharedModels } from '../../../support/vision.ts'

describe('the exposure classifier', () => {
  let models: Models
  let reference: Record<string, number[]>
  beforeAll(async () => {
    models = await sharedModels()
    reference = JSON.parse(await readFile('test/worker/outputs/safety/reference.json', 'utf8')).images
  })

  /** An input without an image file: three colours of waves. */
  const waves = () =>
    Float32Array.from({ length: 224 * 224 * 3 }, (_, i) => {
      const [c, x, y] = [i % 3, Math.floor(i / 3) % 224, Math.floor(i / 672)]
      return 0.5 + 0.5 * Math.sin((x * (c + 1) + 2 * y) / 19)
    })

  it('matches the original model in TensorFlow.js', async () => {
    for (const [name, expected] of Object.entries(reference)) {
      const data = name === 'waves' ? waves() : toInput(await decodeImage(await readSample(name)))
      const { classes } = await models.session(EXPOSURE_MODEL).run({ image: { shape: [1, 224, 224, 3], data } })
      expect(classes.data).toHaveLength(5)
      for (const [i, value] of expected.entries()) expect(Math.abs(classes.data[i] - value)).toBeLessThan(1e-4)
    }
    expect(Object.keys(reference)).toHaveLength(5)
  })

  it('detects no nudity in clothed people, and some in known false positives', async () => {
    const judge = async (bytes: Uint8Array) =>
      classifyExposure(await decodeImage(bytes), models.session(EXPOSURE_MODEL))
    expect((await judge(await mistakenShapes())).nude).toBeGreaterThan(0.95)
    for (const name of ['persons/akimbo-full.jpg', 'persons/down-half-teal.jpg', 'persons/grace-hopper.jpg'])
      expect((await judge(await readSample(name))).nude).toBeLessThan(0.1)
  })

  it('fails if the model returns no numbers', async () => {
    const session = models.session(EXPOSURE_MODEL)
    const run = async () => ({ classes: { shape: [1, 5], data: new Float32Array(5).fill(Number.NaN) } })
    const bitmap = await decodeImage(await readSample('persons/grace-hopper.jpg'))
    await expect(classifyExposure(bitmap, { ...session, run })).rejects.toThrow('returned NaN')
  })
})
