import { isInstallationCode } from './installation.ts'

/**
 * DeviceError: the accelerator or its driver failed. OutOfMemory: device memory is exhausted. SelfTestDrift: results of the
 * self-test differ from the expected values. Hang: a run did not end.
 */
export const DEVICE_FAULT_REASONS = ['DeviceError', 'OutOfMemory', 'SelfTestDrift', 'Hang'] as const
export type DeviceFaultReason = (typeof DEVICE_FAULT_REASONS)[number]

/** A failure of the worker's device and not of the job: the same job can succeed on another worker. */
export class DeviceFault extends Error {
  readonly reason: DeviceFaultReason

  constructor(reason: DeviceFaultReason, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'DeviceFault'
    this.reason = reason
  }
}

/** The device fault in the cause chain of an error; null for any other error. */
export function findDeviceFault(error: unknown): DeviceFault | null {
  for (let each = error; each instanceof Error; each = each.cause) if (each instanceof DeviceFault) return each
  return null
}

/** Converts an error of ONNX Runtime to a `DeviceFault`, unless the model or its input caused it. The CPU provider has no device faults. */
export function asDeviceFault(error: unknown, provider: string): unknown {
  if (provider === 'cpu' || !(error instanceof Error)) return error
  const reason = reasonOf(error.message)
  return reason === null ? error : new DeviceFault(reason, error.message, { cause: error })
}

/** ONNX Runtime has error codes for models and inputs only; device errors are recognisable only by their text. */
function reasonOf(message: string): DeviceFaultReason | null {
  if (OUT_OF_MEMORY.some((pattern) => pattern.test(message))) return 'OutOfMemory'
  const codes = [...message.matchAll(/\bCUDA failure (\d+)/gi)].map(([, code]) => Number(code))
  if (codes.some((code) => !CALLER_CODES.has(code) && !isInstallationCode(code))) return 'DeviceError'
  return DEVICE_ERRORS.some((pattern) => pattern.test(message)) ? 'DeviceError' : null
}

const OUT_OF_MEMORY = [
  /Failed to allocate memory for requested buffer of size/i,
  /Available memory of \d+ is smaller than requested bytes/i,
  /\bCUDA failure 2\b/i,
  /\bout of memory\b/i,
  /cudaErrorMemoryAllocation/,
  /(CUBLAS|CUDNN)_STATUS_ALLOC_FAILED/,
]

/**
 * CUDA error codes of a wrong call, which also occur on a healthy device: invalid value (1), invalid configuration (9), invalid
 * device function (98).
 */
const CALLER_CODES: ReadonlySet<number> = new Set([1, 9, 98])

const DEVICE_ERRORS = [
  /cudaError(IllegalAddress|LaunchFailure|LaunchTimeout|ECCUncorrectable|HardwareStackError|DevicesUnavailable|NoDevice|Unknown|NvlinkUncorrectable|Contained|Assert)/,
  /CUBLAS_STATUS_(NOT_INITIALIZED|EXECUTION_FAILED|INTERNAL_ERROR|MAPPING_ERROR)/,
  /CUDNN_STATUS_(NOT_INITIALIZED|EXECUTION_FAILED\w*|INTERNAL_ERROR\w*|MAPPING_ERROR)/,
  /(CUBLAS|CUDNN|CUFFT|CURAND) error executing/,
  /an illegal memory access was encountered|unspecified launch failure|uncorrectable ECC error|fell off the bus/i,
  /no CUDA-capable device is detected|CUDA-capable device\(s\) is\/are busy or unavailable/i,
  /TensorRT EP (execution context enqueue failed|failed to (create|deserialize) engine)/i,
  /\b(GPU ?)?device (was|is) lost\b|\bDXGI_ERROR_DEVICE_(REMOVED|HUNG|RESET)\b/i,
]
