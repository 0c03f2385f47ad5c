import { readFile } from 'node:fs/promises'
import { InferenceSession } from 'onnxruntime-node'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { asInstallationError } from '../../../worker/inference/installation.ts'
import { openCountedSession, openSession } from '../../../worker/inference/session.ts'

describe('an unusable accelerator', () => {
  it.each([
    [
      'CUDA failure 35: CUDA driver version is insufficient for CUDA runtime version ; GPU=0 ; expr=cudaSetDevice(info_.device_id);',
      /^The NVIDIA driver is missing or too old for libcudart\.so\.13 \(CUDA failure 35\)\. Install driver 580 or newer/,
    ],
    [
      'CUDA failure 803: system has unsupported driver combination ; GPU=0',
      /^The NVIDIA driver .+ \(CUDA failure 803\)/,
    ],
    [
      'CUDA failure 209: no kernel image is available ; GPU=0',
      /^The GPU is not supported: .+ docs\/engines\/fashn-vton\.md/,
    ],
  ])('is explained: %s', (message, expected) => {
    const error = new Error(message)
    expect(asInstallationError(error, 'cuda')).toMatchObject({ message: expect.stringMatching(expected), cause: error })
    expect(asInstallationError(error, 'cpu')).toBe(error)
  })

  it('leaves other errors unchanged', () => {
    for (const message of ['Protobuf parsing failed.', 'CUDA failure 700: an illegal memory access ; GPU=0']) {
      const error = new Error(message)
      expect(asInstallationError(error, 'cuda')).toBe(error)
    }
  })

  // The package contains no library of CUDA.
  it('names the missing library', async () => {
    const model = await readFile('worker/models/pose_detection.onnx')
    await expect(openSession(model, { provider: 'cuda' })).rejects.toThrow(
      'The library libonnxruntime_providers_shared.so is missing. Use the image worker-cuda, which contains it',
    )
  })
})

// The runtime accepts the option only together with CUDA, which the package does not contain.
describe('a session on cuda', () => {
  afterEach(() => vi.restoreAllMocks())

  it('refuses operators on the CPU, unless they are counted or the graph is of a third party', async () => {
    const create = vi.spyOn(InferenceSession, 'create').mockRejectedValue(new Error('opened'))
    const refuses = async (open: () => Promise<unknown>) => {
      await open().catch(() => {})
      const given = JSON.stringify(create.mock.lastCall)
      // Weights outside the arena take half as much memory of the device.
      expect(given.includes('"use_device_allocator_for_initializers":"1"')).toBe(given.includes('cuda'))
      return given.includes('"disable_cpu_ep_fallback":"1"')
    }
    expect(await refuses(() => openSession('model.onnx', { provider: 'cuda' }))).toBe(true)
    expect(await refuses(() => openSession('model.onnx', { provider: 'cuda', mayUseCpu: true }))).toBe(false)
    expect(await refuses(() => openCountedSession('model.onnx', { provider: 'cuda' }))).toBe(false)
    expect(await refuses(() => openSession('model.onnx'))).toBe(false)
  })
})
