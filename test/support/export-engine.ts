import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { resolve } from 'node:path'
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
  return spawnExport([resolve(ROOT, 'scripts/export-engine'), ...args], { limit })
}

/** Like `exportEngine fashn-vton --download`, with other published weights. `python`: as of `findEnginePython`. */
export async function downloadAndExport(
  args: readonly string[],
  { python, published, limit, env }: { python: string; published: Published; limit?: string; env?: NodeJS.ProcessEnv },
): Promise<Exported> {
  const program = `
import json, runpy, sys
from engines.download import Published
from engines.fashn_vton import engine
engine.PUBLISHED = Published(**json.loads(sys.argv.pop(1)))
runpy.run_module("engines", run_name="__main__", alter_sys=False)`
  const command = [python, '-c', program, JSON.stringify(published), 'fashn-vton', '--download', ...args]
  return spawnExport(command, { limit, env: { ...pythonEnvironment(), ...env } })
}

async function spawnExport(
  command: readonly string[],
  { limit = ':', env = process.env }: { limit?: string; env?: NodeJS.ProcessEnv },
): Promise<Exported> {
  const child = spawn('sh', ['-c', `${limit}; exec "$@"`, 'sh', ...command], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env,
  })
  const [errors, [code]] = await Promise.all([text(child.stderr), once(child, 'close')])
  return { code, errors }
}

/** Runs a Python program that can import the packages of `scripts/`, and returns its stdout. */
export function runPython(python: string, args: readonly string[]): Promise<string> {
  return run(python, args, { cwd: ROOT, env: pythonEnvironment() })
}

function pythonEnvironment(): NodeJS.ProcessEnv {
  return { ...process.env, PYTHONPATH: resolve(ROOT, 'scripts'), PYTHONDONTWRITEBYTECODE: '1' }
}
