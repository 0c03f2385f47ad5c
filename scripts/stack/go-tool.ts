import { createHash } from 'node:crypto'
import { access, mkdir, mkdtemp, readdir, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { findCommand, isExecutable, run } from './commands.ts'
import { acquireLock } from './lock.ts'
import { userCache } from './user-cache.ts'

/** A cold build of all programs takes 20 minutes on two cores. */
const CACHE = join(userCache('bin'), `${process.platform}-${process.arch}`)
const GO = '/usr/local/go/bin/go'

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
  const go = findGo()
  if (go === undefined) return { unavailable: `Go, which builds ${tool.name}, is not installed` }
  await mkdir(CACHE, { recursive: true })
  const release = await takeTurn(join(CACHE, `${tool.name}.lock`))
  try {
    if (!(await exists(program))) await build(tool, { go, program, say })
    return program
  } catch (cause) {
    return { unavailable: `${tool.name} could not be built: ${cause instanceof Error ? cause.message : cause}` }
  } finally {
    release()
  }
}

/** The path of the go command, which may be installed outside PATH. */
export function findGo(): string | undefined {
  return findCommand(['go']) ?? (isExecutable(GO) ? GO : undefined)
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

async function takeTurn(path: string): Promise<() => void> {
  for (;;) {
    const lock = acquireLock(path)
    if ('release' in lock) return lock.release
    await sleep(200)
  }
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
