import { InferenceSession, Tensor as RuntimeTensor } from 'onnxruntime-node'

// onnxruntime would otherwise note how it is used and send that to its makers, from its first session on.
process.env.ORT_DISABLE_TELEMETRY = '1'

export const PROVIDERS = ['cpu', 'cuda', 'tensorrt', 'webgpu'] as const
export type Provider = (typeof PROVIDERS)[number]

/** Numbers of 32 bits in row-major order; `data.length` is the product of `shape`. */
export interface Tensor {
  readonly shape: readonly number[]
  readonly data: Float32Array
}

export interface TensorShape {
  readonly name: string
  /** A string stands for a size that the model leaves open. */
  readonly shape: readonly (number | string)[]
}

/** An opened model. It holds memory outside of the JavaScript heap until `release` is called. */
export interface Session {
  readonly inputs: readonly TensorShape[]
  readonly outputs: readonly TensorShape[]
  /**
   * The outputs named in `fetches`, or all, for the tensors in `feeds`. Blocks the thread while the model runs.
   * @throws Error of the runtime when a feed is missing or has a wrong shape.
   */
  run(feeds: Readonly<Record<string, Tensor>>, fetches?: readonly string[]): Promise<Record<string, Tensor>>
  release(): Promise<void>
}

/**
 * Opens the ONNX model in `bytes` on exactly this provider (there is no fallback to another one) with `threads` threads inside
 * an operator.
 * @throws Error of the runtime when the bytes are no model or the provider is missing.
 */
export async function openSession(
  bytes: Uint8Array,
  { provider = 'cpu', threads = 1 }: { provider?: Provider; threads?: number } = {},
): Promise<Session> {
  const session = await InferenceSession.create(bytes, {
    executionProviders: [provider],
    intraOpNumThreads: threads,
    interOpNumThreads: 1,
    // Waiting threads that spin take the processor away from other sessions on the same machine.
    extra: { session: { intra_op: { allow_spinning: '0' }, inter_op: { allow_spinning: '0' } } },
    logSeverityLevel: 3,
  })
  return {
    inputs: session.inputMetadata.map(toTensorShape),
    outputs: session.outputMetadata.map(toTensorShape),
    run: (feeds, fetches) => run(session, feeds, fetches ?? session.outputNames),
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
