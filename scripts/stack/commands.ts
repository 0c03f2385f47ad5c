import { spawn } from 'node:child_process'
import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'

export interface RunOptions {
  readonly cwd?: string
  readonly env?: NodeJS.ProcessEnv
  readonly uid?: number
  readonly gid?: number
  /** Written to the command's standard input. */
  readonly input?: string
}

/** Runs a command and returns its stdout. Throws an Error with its output if it fails. */
export function run(command: string, args: readonly string[], { input, ...options }: RunOptions = {}): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { ...options, stdio: ['pipe', 'pipe', 'pipe'] })
    let stdout = ''
    let both = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text
      both += text
    })
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      both += text
    })
    // A command that does not read its input is not an error.
    child.stdin.on('error', () => {}).end(input)
    child.on('error', reject)
    child.on('close', (code, signal) => {
      if (code === 0) resolve(stdout)
      else reject(new Error(`${command} ${args.join(' ')} ended with ${signal ?? code}\n${both.trim()}`))
    })
  })
}

/** The path of the first of these programs that is in PATH. */
export function findCommand(names: readonly string[]): string | undefined {
  const folders = (process.env.PATH ?? '').split(delimiter).filter((folder) => folder !== '')
  return names.flatMap((name) => folders.map((folder) => join(folder, name))).find(isExecutable)
}

export function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
