/** Variables that a program needs to find its files, libraries and accelerator. They contain no secret. */
const NAMES: ReadonlySet<string> = new Set([
  ...['PATH', 'HOME', 'TMPDIR', 'TEMP', 'TMP', 'LANG', 'LC_ALL', 'TZ', 'SYSTEMROOT', 'XDG_CACHE_HOME'],
  ...['LD_LIBRARY_PATH', 'DYLD_LIBRARY_PATH', 'UV_THREADPOOL_SIZE'],
  ...['NODE_COMPILE_CACHE', 'NODE_ENV', 'NODE_OPTIONS', 'NODE_V8_COVERAGE'],
])
/** Variables of the allocator, ONNX Runtime, its math libraries and its accelerators. */
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
 * The part of the environment that a process that parses untrusted bytes inherits. Excludes database and Redis addresses,
 * signing secrets, cloud credentials and telemetry headers.
 */
export function childEnvironment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const isAllowed = (name: string) => NAMES.has(name) || PREFIXES.some((prefix) => name.startsWith(prefix))
  return Object.fromEntries(Object.entries(env).filter(([name]) => isAllowed(name)))
}
