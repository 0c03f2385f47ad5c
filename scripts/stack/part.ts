/** One program of the stack, and how to run it. */
export interface Part {
  /** Unique name, also of its log file. */
  readonly name: string
  readonly command: string
  readonly args: readonly string[]
  readonly cwd: string
  readonly env: NodeJS.ProcessEnv
  readonly uid?: number
  readonly gid?: number
  readonly signal: NodeJS.Signals
  readonly graceSeconds: number
  /** Shutdown order: parts of a higher stage exit before those of a lower stage get their signal. */
  readonly stage: number
  /** Runs before each start, including restarts after a crash. */
  readonly prepare?: () => Promise<void>
}
