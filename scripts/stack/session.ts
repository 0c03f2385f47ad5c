import { resolve } from 'node:path'
import { run } from './commands.ts'
import { type Stack, startStack } from './stack.ts'

export const ROOT = resolve(import.meta.dirname, '../..')

/** Reports progress to the user. Stdout is for results. */
export function say(text: string): void {
  process.stderr.write(`${text}\n`)
}

/**
 * Starts a stack, passes it to `use` and stops it afterwards; then exits this process, with a non-zero code after an error. Ctrl-C and
 * SIGTERM abort `interrupted` and the start. A second signal does not wait: the reaper stops the rest. Unknown arguments exit immediately.
 * With `dashboard` the stack has the operators' dashboard even if no port for it is given.
 */
export async function runSession(
  use: (stack: Stack, interrupted: AbortSignal) => Promise<void>,
  { known = [], dashboard = false }: { known?: readonly string[]; dashboard?: boolean } = {},
): Promise<never> {
  requireKnownArguments(known)
  const interruption = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      if (interruption.signal.aborted) process.exit(1)
      say('Stopping …')
      interruption.abort(new Error(signal))
    })
  }
  // A closed output is not a reason to exit.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})

  try {
    const stack = await startStack({ root: ROOT, env: process.env, dashboard, say, signal: interruption.signal })
    try {
      await use(stack, interruption.signal)
    } finally {
      await stack.stop()
    }
    process.exit(0)
  } catch (error) {
    if (interruption.signal.aborted) process.exit(130)
    say(error instanceof Error ? error.message : String(error))
    process.exit(1)
  }
}

/** Exits the process with an unknown argument. */
export function requireKnownArguments(known: readonly string[]): void {
  const unknown = process.argv.slice(2).find((argument) => !known.includes(argument))
  if (unknown === undefined) return
  say(`Unknown argument ${unknown}. Known: ${known.join(', ') || 'none'}`)
  process.exit(2)
}

/** Resolves when the signal aborts. */
export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve())
  })
}

/** Runs a drape command against the stack and resolves to its result. */
export async function runDrape<T>({ env }: Pick<Stack, 'env'>, ...words: string[]): Promise<T> {
  return JSON.parse(await run(process.execPath, ['scripts/drape.ts', ...words, '--json'], { cwd: ROOT, env }))
}
