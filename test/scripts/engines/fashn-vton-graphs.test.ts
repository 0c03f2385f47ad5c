import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { InferenceSession, Tensor } from 'onnxruntime-node'
import { describe, expect, it } from 'vitest'
import { readFloats } from '../../support/safetensors.ts'

/** Numbers in row-major order. */
interface Floats {
  readonly shape: readonly number[]
  readonly data: Float32Array
}

const FIXTURES = resolve(import.meta.dirname, '../../fixtures/fashn-vton')
const GUIDANCE = 1.5
/** Of the four steps in the reference, with the end of the last. */
const TIMES = [0, 0.06922778487205505, 0.18242551386356354, 0.4009789526462555, 1]
/** What the reference was made for, and what stands for no garment. */
const CATEGORIES = [2, 0]

describe('the exported graphs of FASHN VTON in ONNX Runtime', async () => {
  const published = readFloats(await readFile(join(FIXTURES, 'tiny.sampler4.safetensors')))
  const tokens = {
    ...(await run('person', { person: orNothing('ca_images'), person_pose: orNothing('person_poses') })),
    ...(await run('garment', { garment: orNothing('garment_images'), garment_pose: orNothing('garment_poses') })),
  }

  it('match the published sampler in guided and unguided steps', async () => {
    const guided = await denoise(read('in/noise'), { from: 0, to: 3, weights: [GUIDANCE, 1 - GUIDANCE] })
    expect(differenceTo('x_after/2', guided.data)).toBeLessThanOrEqual(1e-5)
    const done = await denoise(guided, { from: 3, to: 4, weights: [1] })
    expect(differenceTo('x_after/3', done.data)).toBeLessThanOrEqual(1e-5)
  })

  it('match the published network', async () => {
    const sample = twice(read('in/noise'))
    const modulation = reshape(await modulate([TIMES[0] ?? 0]), [2])
    const { velocity } = await run('velocity', { sample, ...tokens, modulation })
    const { data } = present(velocity)
    expect(differenceTo('v_cond/0', data.subarray(0, data.length / 2))).toBeLessThanOrEqual(1e-5)
    expect(differenceTo('v_uncond/0', data.subarray(data.length / 2))).toBeLessThanOrEqual(1e-5)
  })

  function read(name: string): Floats {
    return present(published[name])
  }

  /** An input of the reference, and zeros after it. */
  function orNothing(name: string): Floats {
    const { shape, data } = twice(read(`in/${name}`))
    return { shape, data: data.fill(0, data.length / 2) }
  }

  /** The steps `from` to `to`, each with these weights of its rows, for a step of length 1. */
  async function denoise(sample: Floats, steps: { from: number; to: number; weights: readonly number[] }) {
    const { from, to, weights } = steps
    const starts = TIMES.slice(from, to)
    const lengths = starts.map((start, i) => (TIMES[from + i + 1] ?? 1) - start)
    const { denoised } = await run('denoise', {
      sample,
      ...tokens,
      modulation: await modulate(starts),
      row_condition: floats([...weights.keys()]),
      step_weights: reshape(floats(lengths.flatMap((length) => weights.map((w) => length * w))), [starts.length]),
    })
    return present(denoised)
  }

  function differenceTo(name: string, found: Float32Array): number {
    const { data } = read(name)
    expect(found).toHaveLength(data.length)
    const largest = (values: Float32Array) => values.reduce((most, value) => Math.max(most, Math.abs(value)), 0)
    return largest(found.map((value, i) => value - (data[i] ?? 0))) / largest(data)
  }
})

/** Times × categories × vectors. */
async function modulate(times: readonly number[]): Promise<Floats> {
  const rows = times.flatMap((time) => CATEGORIES.map((category) => ({ time, category })))
  const time = floats(rows.map((row) => row.time))
  const { modulation } = await run('modulation', { time, category: floats(rows.map((row) => row.category)) })
  return reshape(present(modulation), [times.length, CATEGORIES.length])
}

async function run(name: string, feeds: Readonly<Record<string, Floats>>): Promise<Record<string, Floats>> {
  const session = await InferenceSession.create(join(FIXTURES, 'engine', `${name}.onnx`))
  const inputs = Object.entries(feeds).map(([key, { data, shape }]) => [key, new Tensor('float32', data, shape)])
  const outputs = await session.run(Object.fromEntries(inputs))
  await session.release()
  return Object.fromEntries(
    Object.entries(outputs).map(([key, { data, dims }]) => [
      key,
      { data: Float32Array.from(data as never), shape: dims },
    ]),
  )
}

function floats(data: readonly number[]): Floats {
  return { shape: [data.length], data: Float32Array.from(data) }
}

function twice({ shape: [, ...rest], data }: Floats): Floats {
  return { shape: [2, ...rest], data: Float32Array.from([...data, ...data]) }
}

/** The same numbers with these sizes first and one more that follows from them. */
function reshape({ data }: Floats, first: readonly number[]): Floats {
  return { shape: [...first, data.length / first.reduce((product, size) => product * size, 1)], data }
}

function present(found: Floats | undefined): Floats {
  if (!found) throw new Error('that tensor is not there')
  return found
}
