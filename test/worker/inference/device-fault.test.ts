import { describe, expect, it } from 'vitest'
import { asDeviceFault, DeviceFault, findDeviceFault } from '../../../worker/inference/device-fault.ts'

const NODE = "Non-zero status code returned while running Conv node. Name:'/down/conv' Status Message: "

describe('an error of ONNX Runtime', () => {
  it.each([
    [
      'DeviceError',
      `CUDA failure 700: an illegal memory access was encountered ; GPU=0 ; hostname=a ; file=cuda_call.cc`,
    ],
    ['DeviceError', `${NODE}CUDA error cudaErrorIllegalAddress:an illegal memory access was encountered`],
    ['DeviceError', 'CUDA failure 719: unspecified launch failure ; GPU=0 ; expr=cudaStreamSynchronize(stream);'],
    ['DeviceError', 'CUDA failure 214: uncorrectable ECC error encountered ; GPU=0 ; hostname=a'],
    [
      'DeviceError',
      'CUDA failure 100: no CUDA-capable device is detected ; GPU=-1 ; expr=cudaSetDevice(info_.device_id);',
    ],
    ['DeviceError', 'CUDA failure 46: all CUDA-capable devices are busy or unavailable ; GPU=0'],
    ['DeviceError', 'CUDA failure 999: unknown error ; GPU=0'],
    ['DeviceError', `${NODE}CUBLAS failure 13: CUBLAS_STATUS_EXECUTION_FAILED ; GPU=0 ; expr=cublasGemmHelper(...)`],
    ['DeviceError', 'CUBLAS failure 1: CUBLAS_STATUS_NOT_INITIALIZED ; GPU=0'],
    ['DeviceError', `${NODE}CUBLAS error executing cublasGemmStridedBatchedHelper(...)`],
    [
      'DeviceError',
      `${NODE}CUDNN failure 5000: CUDNN_STATUS_EXECUTION_FAILED ; GPU=0 ; expr=cudnnConvolutionForward(...)`,
    ],
    ['DeviceError', 'CUDNN failure 4: CUDNN_STATUS_INTERNAL_ERROR ; GPU=0'],
    ['DeviceError', `${NODE}TensorRT EP execution context enqueue failed.`],
    [
      'DeviceError',
      'Einsum op: CUDA failure 1: invalid argument ; CUDA failure 700: an illegal memory access was encountered',
    ],
    [
      'OutOfMemory',
      `${NODE}/onnxruntime_src/bfc_arena.cc:376 void* onnxruntime::BFCArena::AllocateRawInternal(size_t, bool) Failed to allocate memory for requested buffer of size 4585490524`,
    ],
    [
      'OutOfMemory',
      'BFCArena::AllocateRawInternal(size_t) Available memory of 0 is smaller than requested bytes of 134217728',
    ],
    ['OutOfMemory', 'CUDA failure 2: out of memory ; GPU=0 ; expr=cudaMalloc((void**)&p, size);'],
    ['OutOfMemory', 'CUBLAS failure 3: CUBLAS_STATUS_ALLOC_FAILED ; GPU=0 ; expr=cublasCreate(&cublas_handle_);'],
  ])('is %s: %s', (reason, message) => {
    const fault = asDeviceFault(new Error(message), 'cuda')
    expect(fault).toBeInstanceOf(DeviceFault)
    expect(fault).toMatchObject({ reason, message })
    expect(asDeviceFault(new Error(message), 'cpu')).not.toBeInstanceOf(DeviceFault)
  })

  it.each([
    'input is missing in feeds',
    'Got invalid dimensions for input: image for the following indices index: 2 Got: 100 Expected: 224',
    `${NODE}CUDA failure 1: invalid argument ; GPU=0 ; expr=cudaMemcpyAsync(...)`,
    'CUDA failure 9: invalid configuration argument ; GPU=0',
    'CUDA failure 35: CUDA driver version is insufficient for CUDA runtime version ; GPU=0 ; expr=cudaSetDevice(info_.device_id);',
    'CUDA failure 803: system has unsupported display driver / cuda driver combination ; GPU=0',
    'CUDA failure 209: no kernel image is available for execution on the device ; GPU=0',
    `${NODE}CUBLAS failure 7: CUBLAS_STATUS_INVALID_VALUE ; GPU=0`,
    `${NODE}CUDNN failure 3000: CUDNN_STATUS_NOT_SUPPORTED ; GPU=0`,
    'Failed to load library libonnxruntime_providers_cuda.so with error: libcublasLt.so.12: cannot open shared object file',
    'Protobuf parsing failed.',
  ])('of the model, its input or the installation is none: %s', (message) => {
    const error = new Error(message)
    expect(asDeviceFault(error, 'cuda')).toBe(error)
  })

  it('is found as the cause of another error', () => {
    const fault = new DeviceFault('OutOfMemory', 'full')
    expect(findDeviceFault(new Error('cannot be opened', { cause: fault }))).toBe(fault)
    expect(findDeviceFault(new Error('other', { cause: 'text' }))).toBeNull()
  })
})
