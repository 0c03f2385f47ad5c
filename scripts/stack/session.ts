import { resolve } from 'node:path'
import { run } from './commands.ts'
import { type Stack, startStack } from './stack.ts'

export const ROOT = resolve(import.meta.dirname, '../..')

/** Reports progress to the user. Stdout is for results. */
export function say(text: string): void {
  process.stderr.write(`${text}\n`)
}

/**
 * Starts a stack, hands it to `use` and ends it afterwards; then ends this process, with a code after an error. `interrupted`
 * is aborted by Ctrl-C and SIGTERM, which also end the start. A second one does not wait: the reaper ends the rest. Arguments of
 * the command other than `known` end it at once. With `dashboard` the stack has the operators' dashboard also when no port of it is given.
 */
export async function runSession(
  use: (stack: Stack, interrupted: AbortSignal) => Promise<void>,
  { known = [], dashboard = false }: { known?: readonly string[]; dashboard?: boolean } = {},
): Promise<never> {
  const unknown = process.argv.slice(2).find((argument) => !known.includes(argument))
  if (unknown !== undefined) {
    say(`There is no argument ${unknown}; there is ${known.join(' and ') || 'none'}`)
    process.exit(2)
  }
  const interruption = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      if (interruption.signal.aborted) process.exit(1)
      say('Stopping …')
      interruption.abort(new Error(signal))
    })
  }
  // The reader has gone; that is no reason to end.
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

/** Resolves when the signal is aborted. */
export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve())
  })
}

/** Runs a command of the command line against the stack and resolves to its answer. */
export async function runDrape<T>({ env }: Stack, ...words: string[]): Promise<T> {
  return JSON.parse(await run(process.execPath, ['scripts/drape.ts', ...words, '--json'], { cwd: ROOT, env }))
}
