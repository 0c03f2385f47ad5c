/** Variables that a program needs to find its files, its libraries and its accelerator, and that hold no secret. */
const NAMES: ReadonlySet<string> = new Set([
  ...['PATH', 'HOME', 'TMPDIR', 'TEMP', 'TMP', 'LANG', 'LC_ALL', 'TZ', 'SYSTEMROOT', 'XDG_CACHE_HOME'],
  ...['LD_LIBRARY_PATH', 'DYLD_LIBRARY_PATH', 'NODE_ENV', 'NODE_OPTIONS', 'NODE_V8_COVERAGE', 'UV_THREADPOOL_SIZE'],
])
/** Of the allocator, ONNX Runtime, its mathematics and its accelerators. */
const PREFIXES = [
  'MALLOC_',
  'GLIBC_',
  'ORT_',
  'OMP_',
  'CUDA_',
  'CUDNN_',
  'NVIDIA_',
  'TENSORRT_',
  'ROCR_',
  'HIP_',
  'VK_',
]

/**
 * The part of an environment that a process which reads callers' bytes may inherit. Everything else stays out: database and
 * Redis addresses, signing secrets, cloud credentials, headers of telemetry.
 */
export function childEnvironment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const isAllowed = (name: string) => NAMES.has(name) || PREFIXES.some((prefix) => name.startsWith(prefix))
  return Object.fromEntries(Object.entries(env).filter(([name]) => isAllowed(name)))
}
