import { type ChildProcess, fork } from 'node:child_process'
import { expect } from 'vitest'
import type { Said } from './command-process.ts'
import { TEST_SECRETS_KEY } from './secrets.ts'

export type { Said }

/** Output of a command without its warnings. */
function withoutWarnings(stderr: string): string {
  return stderr.replaceAll(/^warning: .*\n/gm, '')
}

let program: ChildProcess | undefined
let calls = 0

/**
 * Runs the command line with these arguments and variables, in a process that all test files of a worker share: to load the
 * program takes longer than most commands. Calls run one after another. A command that reads stdin, or never ends, needs a process
 * of its own.
 */
export async function runDrape(args: readonly string[], env: NodeJS.ProcessEnv): Promise<Said> {
  program ??= startProgram()
  const child = program
  const id = ++calls
  const said = new Promise<Said>((resolve, reject) => {
    const settle = (answer: { id: number; said: Said }) => {
      if (answer.id !== id) return
      stop()
      resolve(answer.said)
    }
    const fail = (code: number | null) => {
      stop()
      reject(new Error(`The process of commands ended with ${code} during: drape ${args.join(' ')}`))
    }
    const stop = () => {
      child.off('message', settle)
      child.off('exit', fail)
    }
    child.on('message', settle)
    child.on('exit', fail)
  })
  child.send({ id, args, env })
  return said
}

function startProgram(): ChildProcess {
  // Of the test worker, with which it ends.
  const child = fork(new URL('./command-process.ts', import.meta.url), {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  child.setMaxListeners(0)
  child.unref()
  child.channel?.unref()
  child.on('exit', () => {
    program = undefined
  })
  return child
}

/** What a command printed on stdout. Rejects with code and stderr unless it succeeds. */
export async function outputOf(args: readonly string[], env: NodeJS.ProcessEnv): Promise<string> {
  const said = await runDrape(args, env)
  if (said.code !== 0) throw Object.assign(new Error(said.stderr), said)
  return said.output
}

/** The command line over a database. */
export function createCommandLine(databaseUrl: string, variables: Readonly<Record<string, string>> = {}) {
  const drape = (...args: string[]) =>
    runDrape([...args, '--json'], {
      ...process.env,
      SECRETS_KEY: TEST_SECRETS_KEY,
      ...variables,
      DATABASE_URL: databaseUrl,
    })
  /** Runs a command that must succeed without warnings, and returns its output. */
  const answered = async (...args: string[]) => {
    const { code, output, stderr } = await drape(...args)
    expect({ code, stderr: withoutWarnings(stderr) }).toEqual({ code: 0, stderr: '' })
    return JSON.parse(output)
  }
  return { drape, answered }
}
