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
 * The path of a Python that has what `scripts/export-engine` and its tests need, and why there is none if it is empty. The
 * packages are brought once, into `.cache/engines`. Throws as `failUnlessAllowed` does.
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

/** Runs `scripts/export-engine`; `limit` is a command of the shell that comes before it, as `ulimit` is. */
export async function exportEngine(args: readonly string[], { limit = ':' } = {}): Promise<Exported> {
  const child = spawn('sh', ['-c', `${limit}; exec "$@"`, 'sh', resolve(ROOT, 'scripts/export-engine'), ...args], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const [errors, [code]] = await Promise.all([text(child.stderr), once(child, 'close')])
  return { code, errors }
}

/** Runs a Python program that can import the packages of `scripts/` and returns what it wrote to stdout. */
export function runPython(python: string, args: readonly string[]): Promise<string> {
  return run(python, args, {
    cwd: ROOT,
    env: { ...process.env, PYTHONPATH: resolve(ROOT, 'scripts'), PYTHONDONTWRITEBYTECODE: '1' },
  })
}
