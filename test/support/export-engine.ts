import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { run } from '../../scripts/stack/commands.ts'
import { failUnlessAllowed, reasonWithout } from './missing.ts'

const ROOT = resolve(import.meta.dirname, '../..')

/** How a run of `scripts/export-engine` ended. */
export interface Exported {
  readonly code: number | null
  readonly errors: string
}

/**
 * The path of a Python with the packages of `scripts/export-engine` and its tests, or an empty path and the reason. The
 * packages are installed once, into `.cache/engines`. Throws like `failUnlessAllowed`.
 */
export async function findEnginePython(): Promise<{ readonly python: string; readonly reason: string }> {
  const missing = await reasonWithout('python')
  if (missing) return { python: '', reason: missing }
  const script = `root=$1; . "$root/scripts/engines/setup"; echo "$engines_python"`
  try {
    return { python: (await run('sh', ['-c', script, 'sh', ROOT])).trim(), reason: '' }
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    failUnlessAllowed(reason)
    return { python: '', reason }
  }
}

/** A file in the place of the published weights. */
export interface Published {
  readonly url: string
  readonly sha256: string
  readonly bytes: number
}

/** Runs `scripts/export-engine`; `limit` is a shell command before it, for example `ulimit`. */
export async function exportEngine(args: readonly string[], { limit = ':' } = {}): Promise<Exported> {
  const command = [resolve(ROOT, 'scripts/export-engine'), ...args]
  const child = spawn('sh', ['-c', `${limit}; exec "$@"`, 'sh', ...command], { stdio: ['ignore', 'ignore', 'pipe'] })
  const [errors, [code]] = await Promise.all([text(child.stderr), once(child, 'close')])
  return { code, errors }
}

/** Exports in forks of one process: to load the packages takes longer than to export a tiny engine. */
const FORKS = `
import json, os, resource, runpy, sys
import engines.export
from engines.download import Published
from engines.fashn_vton import engine
for line in sys.stdin:
    call = json.loads(line)
    child = os.fork()
    if child == 0:
        os.umask(0o022)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        os.dup2(os.open(call["errors"], os.O_WRONLY | os.O_CREAT), 2)
        os.environ.update(call["env"])
        if call.get("maxBytes"):
            resource.setrlimit(resource.RLIMIT_FSIZE, (call["maxBytes"], call["maxBytes"]))
        if call["published"]:
            engine.PUBLISHED = Published(**call["published"])
        sys.argv = ["export-engine", *call["args"]]
        runpy.run_module("engines", run_name="__main__")
        sys.exit()
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)`

interface ExportOptions {
  /** Another file in the place of the published weights. */
  readonly published?: Published
  readonly env?: Readonly<Record<string, string>>
  /** Size limit of files. */
  readonly maxBytes?: number
}

/** Runs `export-engine` with these arguments; one run at a time. `python`: as of `findEnginePython`. */
export function startExports(python: string) {
  const child = spawn(python, ['-c', FORKS], { env: pythonEnvironment(), stdio: ['pipe', 'pipe', 'inherit'] })
  const codes = createInterface(child.stdout)[Symbol.asyncIterator]()
  return {
    run: async (args: readonly string[], { published, env = {}, maxBytes }: ExportOptions = {}): Promise<Exported> => {
      const folder = await mkdtemp(join(tmpdir(), 'drape-export-'))
      const errors = join(folder, 'errors')
      child.stdin.write(`${JSON.stringify({ args, errors, env, published: published ?? null, maxBytes })}\n`)
      const { value } = await codes.next()
      const said = await readFile(errors, 'utf8')
      await rm(folder, { recursive: true })
      return { code: Number(value), errors: said }
    },
    stop: () => void child.stdin.end(),
  }
}

/** Runs a Python program that can import the packages of `scripts/`, and returns its stdout. */
export function runPython(python: string, args: readonly string[]): Promise<string> {
  return run(python, args, { cwd: ROOT, env: pythonEnvironment() })
}

function pythonEnvironment(): NodeJS.ProcessEnv {
  return { ...process.env, PYTHONPATH: resolve(ROOT, 'scripts'), PYTHONDONTWRITEBYTECODE: '1' }
}
