import { existsSync, readFileSync } from 'node:fs'
import { InferenceSession } from 'onnxruntime-node'

// Preloaded into an inference process, whose models then run on the CPU in place of CUDA. While the file that CUDA_TEST_FAILURE names
// exists, every run fails with its text, as ONNX Runtime's runs do on a device that has failed.

const failure = process.env.CUDA_TEST_FAILURE ?? ''

if (process.argv[1]?.endsWith('inference/process.ts')) {
  const create = InferenceSession.create.bind(InferenceSession) as (
    model: string,
    options: InferenceSession.SessionOptions,
  ) => Promise<InferenceSession>
  Object.assign(InferenceSession, {
    create: async (model: string, options: InferenceSession.SessionOptions) => {
      const session = await create(model, { ...options, executionProviders: ['cpu'], extra: {} })
      const run = session.run.bind(session)
      const runOnDevice = async (...given: Parameters<InferenceSession['run']>) => {
        if (existsSync(failure)) throw new Error(readFileSync(failure, 'utf8'))
        return run(...given)
      }
      return Object.assign(session, { run: runOnDevice })
    },
  })
}
