/** One program of the stack and how to run it. */
export interface Part {
  /** Unique; also the name of its log file. */
  readonly name: string
  readonly command: string
  readonly args: readonly string[]
  readonly cwd: string
  readonly env: NodeJS.ProcessEnv
  readonly uid?: number
  readonly gid?: number
  readonly signal: NodeJS.Signals
  readonly graceSeconds: number
  /** Parts of a higher stage have ended before those of a lower one get their signal. */
  readonly stage: number
  /** Runs before each start, the first and those after a crash. */
  readonly prepare?: () => Promise<void>
}
