import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { run } from '../../../scripts/stack/commands.ts'
import { openSession } from '../../../worker/inference/session.ts'

const detector = () => readFile('worker/models/pose_detection.onnx')
const grey = { shape: [1, 224, 224, 3], data: new Float32Array(224 * 224 * 3).fill(0.1) }

describe('a session', async () => {
  const session = await openSession(await detector())
  afterAll(() => session.release())

  it('exposes names and shapes of inputs and outputs', () => {
    expect(session.inputs).toEqual([{ name: 'image', shape: [1, 224, 224, 3] }])
    expect(session.outputs).toEqual([
      { name: 'boxes', shape: [1, 2254, 12] },
      { name: 'scores', shape: [1, 2254, 1] },
    ])
  })

  it('is deterministic', async () => {
    const first = await session.run({ image: grey })
    const second = await session.run({ image: grey })
    expect(first.boxes.shape).toEqual([1, 2254, 12])
    expect(first.boxes.data).toHaveLength(2254 * 12)
    expect(Buffer.from(second.boxes.data.buffer)).toEqual(Buffer.from(first.boxes.data.buffer))
  })

  it('writes no profile', async () => {
    const home = await mkdtemp(join(tmpdir(), 'drape-home-'))
    try {
      const script = `
        import { readFile } from 'node:fs/promises'
        import { openSession } from ${JSON.stringify(new URL('../../../worker/inference/session.ts', import.meta.url))}
        await openSession(await readFile('worker/models/pose_detection.onnx'))`
      const { PATH } = process.env
      await run(process.execPath, ['--input-type=module', '--eval', script], { env: { PATH, HOME: home } })
      expect(await readdir(home)).toEqual([])
    } finally {
      await rm(home, { recursive: true })
    }
  })

  it('returns only the requested outputs', async () => {
    expect(Object.keys(await session.run({ image: grey }, ['scores']))).toEqual(['scores'])
  })

  it('rejects a missing input or an input of another shape', async () => {
    const small = { shape: [1, 112, 112, 3], data: new Float32Array(112 * 112 * 3) }
    await expect(session.run({ image: small })).rejects.toThrow(/dimension/i)
    await expect(session.run({})).rejects.toThrow(/image/)
  })

  it('returns equal results with two threads, up to rounding', async () => {
    const two = await openSession(await detector(), { threads: 2 })
    const [a, b] = [await session.run({ image: grey }), await two.run({ image: grey })]
    await two.release()
    const difference = a.boxes.data.map((value, i) => Math.abs(value - b.boxes.data[i]))
    expect(Math.max(...difference)).toBeLessThan(1e-3)
  })
})

describe('opening', () => {
  it('rejects bytes that are not a model', async () => {
    await expect(openSession(new Uint8Array(1000))).rejects.toThrow()
  })

  it('rejects an unavailable provider instead of falling back', async () => {
    await expect(openSession(await detector(), { provider: 'tensorrt' })).rejects.toThrow()
  })
})
