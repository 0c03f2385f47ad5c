import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { InferenceSession, Tensor as RuntimeTensor } from 'onnxruntime-node'
import { asDeviceFault, DeviceFault } from './device-fault.ts'
import { asInstallationError } from './installation.ts'

// Disables the telemetry that onnxruntime otherwise sends to its vendor.
process.env.ORT_DISABLE_TELEMETRY = '1'

export const PROVIDERS = ['cpu', 'cuda', 'tensorrt', 'webgpu'] as const
export type Provider = (typeof PROVIDERS)[number]

/** 32-bit floats in row-major order; `data.length` is the product of `shape`. */
export interface Tensor {
  readonly shape: readonly number[]
  readonly data: Float32Array
}

export interface TensorShape {
  readonly name: string
  /** A string names a size that the model leaves open. */
  readonly shape: readonly (number | string)[]
}

/** An opened model. Owns memory outside the JavaScript heap until `release` is called. */
export interface Session {
  readonly inputs: readonly TensorShape[]
  readonly outputs: readonly TensorShape[]
  /**
   * Runs the model on the tensors in `feeds` and returns the outputs named in `fetches`, or all. Blocks the thread.
   * @throws Error of the runtime if a feed is missing or has a wrong shape; `DeviceFault` if the device fails.
   */
  run(feeds: Readonly<Record<string, Tensor>>, fetches?: readonly string[]): Promise<Record<string, Tensor>>
  release(): Promise<void>
}

/** A model that counts its operators until `countOperators` is called. */
export interface CountedSession extends Session {
  /** Number of operators that ran on each provider, for example `{ cuda: 812, cpu: 3 }`. Call once. */
  countOperators(): Promise<Readonly<Record<string, number>>>
}

interface SessionOptions {
  readonly provider?: Provider
  /** Threads per operator. */
  readonly threads?: number
  /** False: memory of a run is freed after it, not kept for the next run, which takes a third longer. */
  readonly arena?: boolean
  /** True: on `cuda`, operators without a kernel there run on the CPU, instead of failing the opening. */
  readonly mayUseCpu?: boolean
}

/**
 * Opens an ONNX model on this provider, from its bytes or, if its weights are in a separate file, from its path.
 * @throws Error of the runtime if the file is not a model; Error that names what the provider lacks; `DeviceFault` if the device
 * fails.
 */
export async function openSession(model: Uint8Array | string, options: SessionOptions = {}): Promise<Session> {
  return asSession(await create(model, options), options)
}

/** Opens a model whose operators may run on the CPU, with a count of them. */
export async function openCountedSession(path: string, given: SessionOptions = {}): Promise<CountedSession> {
  const options = { ...given, mayUseCpu: true }
  const folder = await mkdtemp(join(tmpdir(), 'drape-profile-'))
  const forget = () => rm(folder, { recursive: true, force: true })
  try {
    const session = await create(path, options, { enableProfiling: true, profileFilePrefix: join(folder, 'profile') })
    return {
      ...asSession(session, options),
      release: async () => {
        await session.release()
        await forget()
      },
      countOperators: async () => {
        session.endProfiling()
        const counts = await readCounts(folder)
        await forget()
        return counts
      },
    }
  } catch (error) {
    await forget()
    throw error
  }
}

async function create(
  model: Uint8Array | string,
  { provider = 'cpu', threads = 1, arena = true, mayUseCpu = false }: SessionOptions,
  more: InferenceSession.SessionOptions = {},
): Promise<InferenceSession> {
  const options = {
    ...more,
    executionProviders: [provider],
    intraOpNumThreads: threads,
    interOpNumThreads: 1,
    enableCpuMemArena: arena,
    enableMemPattern: arena,
    // Spinning threads would block other sessions on the same machine.
    extra: {
      session: {
        intra_op: { allow_spinning: '0' },
        inter_op: { allow_spinning: '0' },
        ...(provider === 'cuda' && {
          // Weights take what they need; in the arena, which doubles, they would take up to twice as much.
          use_device_allocator_for_initializers: '1',
          disable_cpu_ep_fallback: mayUseCpu ? '0' : '1',
        }),
      },
    },
    logSeverityLevel: 3,
  } as const
  try {
    return await (typeof model === 'string'
      ? InferenceSession.create(model, options)
      : InferenceSession.create(model, options))
  } catch (error) {
    throw explain(error, provider)
  }
}

function explain(error: unknown, provider: Provider): unknown {
  const fault = asDeviceFault(error, provider)
  return fault instanceof DeviceFault ? fault : asInstallationError(error, provider)
}

function asSession(session: InferenceSession, { provider = 'cpu' }: SessionOptions): Session {
  return {
    inputs: session.inputMetadata.map(toTensorShape),
    outputs: session.outputMetadata.map(toTensorShape),
    run: (feeds, fetches) =>
      run(session, feeds, fetches ?? session.outputNames).catch((error) => {
        throw explain(error, provider)
      }),
    release: () => session.release(),
  }
}

function toTensorShape(metadata: InferenceSession.ValueMetadata): TensorShape {
  return { name: metadata.name, shape: metadata.isTensor ? metadata.shape : [] }
}

async function run(
  session: InferenceSession,
  feeds: Readonly<Record<string, Tensor>>,
  fetches: readonly string[],
): Promise<Record<string, Tensor>> {
  const inputs = Object.entries(feeds).map(
    ([name, { shape, data }]) => [name, new RuntimeTensor('float32', data, shape)] as const,
  )
  const outputs = await session.run(Object.fromEntries(inputs), fetches)
  return Object.fromEntries(fetches.map((name) => [name, toTensor(name, outputs[name])]))
}

function toTensor(name: string, { type, dims, data }: RuntimeTensor): Tensor {
  if (!(data instanceof Float32Array)) throw new Error(`output ${name} has the type ${type}, expected float32`)
  return { shape: dims, data }
}

/** Reads the operator counts from the runtime's profile. */
async function readCounts(folder: string): Promise<Record<string, number>> {
  const counts: Record<string, number> = {}
  for (const name of await readdir(folder)) {
    const events: { cat?: string; args?: { provider?: string } }[] = JSON.parse(
      await readFile(join(folder, name), 'utf8'),
    )
    for (const { cat, args } of events) {
      if (cat !== 'Node' || !args?.provider) continue
      const provider = args.provider.replace('ExecutionProvider', '').toLowerCase()
      counts[provider] = (counts[provider] ?? 0) + 1
    }
  }
  return counts
}
