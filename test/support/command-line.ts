import { execFile } from 'node:child_process'
import { expect } from 'vitest'
import { TEST_SECRETS_KEY } from './secrets.ts'

export interface Said {
  readonly code: number
  readonly output: string
  /** On stderr. */
  readonly stderr: string
}

/** Output of a command without its warnings. */
export function withoutWarnings(stderr: string): string {
  return stderr.replaceAll(/^warning: .*\n/gm, '')
}

/** The command line over a database. */
export function createCommandLine(databaseUrl: string, variables: Readonly<Record<string, string>> = {}) {
  const drape = (...args: string[]) =>
    new Promise<Said>((resolve) => {
      const env = { ...process.env, SECRETS_KEY: TEST_SECRETS_KEY, ...variables, DATABASE_URL: databaseUrl }
      execFile(process.execPath, ['scripts/drape.ts', ...args, '--json'], { env }, (error, output, stderr) =>
        resolve({ code: Number(error?.code ?? 0), output, stderr }),
      )
    })
  /** Runs a command that must succeed without warnings, and returns its output. */
  const answered = async (...args: string[]) => {
    const { code, output, stderr } = await drape(...args)
    expect({ code, stderr: withoutWarnings(stderr) }).toEqual({ code: 0, stderr: '' })
    return JSON.parse(output)
  }
  return { drape, answered }
}
