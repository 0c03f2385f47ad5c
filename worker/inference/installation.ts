import { basename, dirname, join } from 'node:path'

/** CUDA error codes of a driver that is absent or older than the libraries: 35 insufficient, 36 newer required, 222 older compiler, 803 and 804 other versions. */
const DRIVER_CODES: ReadonlySet<number> = new Set([35, 36, 222, 803, 804])
/** CUDA error code of a GPU that the libraries have no machine code for. */
const NO_KERNEL_CODE = 209

/** What the libraries of CUDA 13 require; the image `worker-cuda` contains them. */
const DRIVER = 'driver 580 or newer, and the NVIDIA container toolkit, on the machine'

/**
 * Names the library, the driver or the GPU that makes the accelerator unusable, from an error of ONNX Runtime. Returns any other error
 * unchanged.
 */
export function asInstallationError(error: unknown, provider: string): unknown {
  if (provider === 'cpu' || !(error instanceof Error)) return error
  const problem = findProblem(error.message, provider)
  return problem === null ? error : new Error(problem, { cause: error })
}

/** Whether a CUDA error code tells of the installation, and not of the device. */
export function isInstallationCode(code: number): boolean {
  return DRIVER_CODES.has(code) || code === NO_KERNEL_CODE
}

function findProblem(message: string, provider: string): string | null {
  const code = [...message.matchAll(/\bCUDA failure (\d+)/gi)]
    .map(([, found]) => Number(found))
    .find(isInstallationCode)
  if (code === NO_KERNEL_CODE)
    return 'The GPU is not supported: the libraries of CUDA have no machine code for it (CUDA failure 209). Use a GPU that docs/engines/fashn-vton.md lists'
  if (code !== undefined) {
    const library = basename(findLibrary(/libcudart\.so/) ?? 'libcudart.so.13')
    return `The NVIDIA driver is missing or too old for ${library} (CUDA failure ${code}). Install ${DRIVER}`
  }
  if (!message.includes('Failed to load shared library')) return null
  const missing = findMissingLibrary(provider)
  if (missing === null) return null
  const isDriver = missing.startsWith('libcuda.so')
  return `The library ${missing} is missing. ${isDriver ? `It belongs to the NVIDIA driver: install ${DRIVER}` : 'Use the image worker-cuda, which contains it'}`
}

/** ONNX Runtime writes the name to its log only: asks the dynamic linker again. */
function findMissingLibrary(provider: string): string | null {
  const runtime = findLibrary(/libonnxruntime\.so/)
  if (runtime === null) return null
  for (const name of ['shared', provider]) {
    try {
      process.dlopen({ exports: {} }, join(dirname(runtime), `libonnxruntime_providers_${name}.so`))
    } catch (error) {
      const [, path] = /(\S+): cannot open shared object file/.exec(error instanceof Error ? error.message : '') ?? []
      if (path !== undefined) return basename(path)
    }
  }
  return null
}

/** Path of a loaded library. */
function findLibrary(name: RegExp): string | null {
  if (!process.report) return null
  // Otherwise the report looks up the names of all connected machines.
  Object.assign(process.report, { excludeNetwork: true })
  const { sharedObjects } = process.report.getReport() as { sharedObjects: readonly string[] }
  return sharedObjects.find((path) => name.test(path)) ?? null
}
