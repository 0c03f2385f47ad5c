import { execFile, spawn } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { availableParallelism, cpus } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { parseArgs, promisify } from 'node:util'
import { MODES } from '../../api/shared/generations/generation.ts'
import { decodeImage } from '../../api/shared/image/image.ts'
import type { Engine, EngineInput } from '../../worker/engines/engine.ts'
import { findInstalled } from '../../worker/engines/installed.ts'
import { createEngines } from '../../worker/engines/registry.ts'
import { openModels } from '../../worker/inference/models.ts'
import { PROVIDERS } from '../../worker/inference/session.ts'

// Measures an engine with model files on this machine, through the worker's code, and prints one line of JSON:
// node scripts/benchmarks/gpu.ts --engine-dir /models [--engine fashn-vton] [--provider cuda] [--pictures 3]
// --pictures 0 measures only the start-up and its memory. Files with random weights work, too:
// scripts/export-engine fashn-vton --random --size full --no-golden --output /models/fashn-vton
// Exits with 1 if the engine needs more memory than engine.json states.

const { values } = parseArgs({
  options: {
    'engine-dir': { type: 'string' },
    engine: { type: 'string', default: 'fashn-vton' },
    provider: { type: 'string', default: 'cuda' },
    pictures: { type: 'string', default: '3' },
  },
})
const provider = PROVIDERS.find((known) => known === values.provider)
if (!provider) throw new Error(`--provider must be one of ${PROVIDERS.join(', ')}`)

const gpu = await watchGpu()
const started = performance.now()
const models = await openModels(fileURLToPath(new URL('../../worker/models', import.meta.url)), { provider })
const known = await findInstalled([values.engine], values['engine-dir'] ?? '')
const before = process.memoryUsage().rss
const loops: Loop[] = []
const engine = (await createEngines([values.engine], { models, provider, known, acknowledged: [values.engine] })).get(
  values.engine,
)
if (!engine) throw new Error(`the engine ${values.engine} does not exist`)
const opened = performance.now()
const proof = (await engine.selfTest?.()) ?? null
const proven = performance.now()

const { sampling } = JSON.parse(await readFile(join(values['engine-dir'] ?? '', values.engine, 'engine.json'), 'utf8'))
const input = await readInput()
const modes: Record<string, Awaited<ReturnType<typeof measureMode>>> = {}
if (Number(values.pictures) > 0) for (const mode of MODES) modes[mode] = await measureMode(engine, mode)
const device = (await gpu?.stop()) ?? null
const memory = compareMemory(provider, device)
console.log(
  JSON.stringify({
    date: new Date().toISOString().slice(0, 10),
    engine: `${engine.manifest.name} ${engine.manifest.version}`,
    provider,
    operators: proof?.operators ?? null,
    coldStart: {
      openSeconds: seconds(opened - started),
      selfTestSeconds: seconds(proven - opened),
      firstStepsMs: proof?.warmUp.first ?? null,
      sameStepsMs: proof?.warmUp.again ?? null,
    },
    modes,
    memory,
    gpu: device,
    hardware: `${await gpuName()}, ${availableParallelism()} of ${cpus().length} ${process.arch} cores (${cpus()[0].model.trim()})`,
  }),
)
await engine.release?.()
await models.release()
if (memory.isEnough === false) {
  console.error(`${values.engine} took ${memory.measuredMiB} MiB; its engine.json says ${memory.minMemoryMiB} MiB`)
  process.exitCode = 1
}

/**
 * Peak memory of this process on the GPU, or its memory in addition to the small models. `isEnough`: whether that is within the minimum
 * in `engine.json`; null without a minimum.
 */
function compareMemory(on: string, device: { memoryMiB: number } | null) {
  const { maxRSS } = process.resourceUsage()
  const measuredMiB = on === 'cpu' || !device ? Math.round((maxRSS * 1024 - before) / 2 ** 20) : device.memoryMiB
  const minMemoryMiB = known.get(values.engine)?.manifest.minMemoryMiB ?? null
  const isEnough = minMemoryMiB === null ? null : measuredMiB <= minMemoryMiB
  return { measuredMiB, minMemoryMiB, isEnough, processMiB: Math.round(maxRSS / 1024) }
}

async function readInput(): Promise<Omit<EngineInput, 'options'>> {
  const read = async (path: string) => decodeImage(await readFile(new URL(`../samples/${path}`, import.meta.url)))
  const [person, garment] = await Promise.all([read('persons/down-half-teal.jpg'), read('garments/tshirt-mustard.jpg')])
  return { person, garment, garmentHash: 'mustard', category: 'tops' }
}

/** The first image of a mode computes its schedule and is excluded. */
async function measureMode(measured: Engine, mode: (typeof MODES)[number]) {
  const runs: Awaited<ReturnType<typeof measureRun>>[] = []
  for (let seed = 0; seed <= Number(values.pictures); seed++) runs.push(await measureRun(measured, { mode, seed }))
  const counted = runs.slice(1)
  const steps = sampling.steps[mode]
  return {
    steps,
    secondsPerStep: seconds(median(counted.map(({ denoise }) => denoise / steps))),
    longestSecondsWithoutProgress: seconds(Math.max(...counted.map(({ silence }) => silence))),
    secondsPerPicture: seconds(median(counted.map(({ picture }) => picture))),
  }
}

async function measureRun(measured: Engine, options: EngineInput['options']) {
  const begun = performance.now()
  const at = [begun]
  const { timings } = await measured.run(
    { ...input, options },
    { signal: new AbortController().signal, onProgress: () => at.push(performance.now()) },
  )
  const silence = Math.max(...at.slice(1).map((time, i) => time - at[i]))
  const { denoise = 0, change = 0 } = timings
  const until = Date.now() - change
  loops.push({ from: until - denoise, until })
  return { picture: performance.now() - begun, denoise, silence }
}

/** When all steps of a picture ran, in ms since 1970. */
interface Loop {
  readonly from: number
  readonly until: number
}

/** Utilisation of the device in the loops, and the memory that it uses more than before, from its driver; null without a driver. */
async function watchGpu() {
  const query = ['--query-gpu=timestamp,utilization.gpu,memory.used', '--format=csv,noheader,nounits', '-lms', '100']
  const child = spawn('nvidia-smi', query, { stdio: ['ignore', 'pipe', 'ignore'] })
  const samples: { at: number; use: number; memory: number }[] = []
  const closed = new Promise((resolve) => child.on('close', resolve))
  const isThere = await new Promise<boolean>((resolve) => {
    child.on('error', () => resolve(false)).on('close', () => resolve(false))
    createInterface({ input: child.stdout }).on('line', (line) => {
      const [time, use, memory] = line.split(',')
      samples.push({ at: new Date(time).getTime(), use: Number(use), memory: Number(memory) })
      resolve(true)
    })
  })
  if (!isThere) return null
  return {
    stop: async () => {
      child.kill()
      // Runs of the graphs block this thread: samples of the last one still wait.
      await closed
      const seen = samples.filter(({ at }) => loops.some(({ from, until }) => from <= at && at <= until))
      const busy = seen.reduce((sum, { use }) => sum + use, 0) / Math.max(1, seen.length) / 100
      const memoryMiB = Math.max(...samples.map(({ memory }) => memory)) - samples[0].memory
      return { busy: Number(busy.toFixed(2)), memoryMiB }
    },
  }
}

async function gpuName(): Promise<string> {
  const query = promisify(execFile)('nvidia-smi', ['--query-gpu=name,driver_version', '--format=csv,noheader'])
  return query.then(
    ({ stdout }) => stdout.trim(),
    () => 'no NVIDIA driver',
  )
}

function median(numbers: readonly number[]): number {
  return numbers.toSorted((a, b) => a - b)[numbers.length >> 1]
}

function seconds(ms: number): number {
  return Number((ms / 1000).toPrecision(3))
}
