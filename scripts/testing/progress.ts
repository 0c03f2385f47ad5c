import { writeFileSync } from 'node:fs'
import type { Reporter, SerializedError, TestCase, TestModule, TestSpecification, Vitest } from 'vitest/node'
import { estimateSeconds, readDurations } from './durations.ts'
import type { OutsideError } from './reports.ts'

const MS_PER_MINUTE = 60_000
/** Between two lines of progress. */
const EVERY_MS = 15_000
/** Time for a stopped run to write its report and exit. */
const GRACE_MS = MS_PER_MINUTE

/**
 * Prints how many files of a vitest run have ended and the time that the others need, and stops the run at a deadline, which an external
 * timeout could do only without its report. `TEST_LANE` names the run. `TEST_DEADLINE` is the deadline in milliseconds since 1970; no limit
 * if it is not set. The paths of the files that had not ended by then go to the file `TEST_UNFINISHED`, one per line, and are printed with the
 * tests that run. The errors outside tests, which vitest's report lacks, go to the file `TEST_ERRORS` as JSON.
 */
export default class Progress implements Reporter {
  readonly #lane = process.env.TEST_LANE
  readonly #durations = readDurations()
  readonly #begun = new Map<TestModule | TestCase, number>()
  readonly #startedAt = Date.now()
  #left = new Map<string, number>()
  #seconds = 0
  #failed = 0
  #count = 0
  #timers: NodeJS.Timeout[] = []

  onInit(vitest: Vitest): void {
    if (this.#lane !== undefined) this.#timers.push(setInterval(() => console.log(this.#present()), EVERY_MS))
    const deadline = Number(process.env.TEST_DEADLINE)
    if (deadline > 0) this.#stopAt(vitest, Math.max(0, deadline - Date.now()))
    for (const timer of this.#timers) timer.unref()
  }

  onTestRunStart(files: readonly TestSpecification[]): void {
    const paths = files.map(({ project, moduleId }) => moduleId.slice(project.config.root.length + 1))
    this.#left = new Map(paths.map((path) => [path, estimateSeconds(path, this.#durations)]))
    this.#count = this.#left.size
    this.#seconds = sum(this.#left.values())
  }

  onTestModuleStart(module: TestModule): void {
    this.#begun.set(module, Date.now())
  }

  onTestCaseReady(test: TestCase): void {
    this.#begun.set(test, Date.now())
  }

  onTestCaseResult(test: TestCase): void {
    this.#begun.delete(test)
  }

  onTestModuleEnd(module: TestModule): void {
    this.#begun.delete(module)
    this.#left.delete(module.relativeModuleId)
    if (!module.ok()) this.#failed++
  }

  onTestRunEnd(_: readonly TestModule[], errors: readonly SerializedError[]): void {
    if (!process.env.TEST_ERRORS) return
    const outside: OutsideError[] = errors.map(({ VITEST_TEST_PATH: file, message }) => ({ file, message }))
    writeFileSync(process.env.TEST_ERRORS, JSON.stringify(outside))
  }

  #stopAt(vitest: Vitest, afterMs: number): void {
    const stop = () => {
      const path = process.env.TEST_UNFINISHED
      if (path) writeFileSync(path, [...this.#left.keys()].join('\n'))
      for (const line of this.#describeUnfinished()) console.log(line)
      void vitest.cancelCurrentRun('test-failure')
    }
    this.#timers.push(
      setTimeout(stop, afterMs),
      setTimeout(() => process.exit(1), afterMs + GRACE_MS),
    )
  }

  /** The rest is estimated from the speed so far, with the time of files that run. */
  #present(): string {
    const ended = this.#count - this.#left.size
    const running = [...this.#begun].map(([begun, at]) => {
      const expected = begun.type === 'module' ? (this.#left.get(begun.relativeModuleId) ?? 0) : 0
      return Math.min(expected, (Date.now() - at) / 1000)
    })
    const left = sum(this.#left.values()) - sum(running)
    const minutes = ((Date.now() - this.#startedAt) / MS_PER_MINUTE) * (left / (this.#seconds - left))
    const rest = Number.isFinite(minutes) ? `, about ${Math.ceil(minutes)} min left` : ''
    const failed = this.#failed > 0 ? `, ${this.#failed} failed` : ''
    return `Lane ${this.#lane ?? 'unknown'}: ${ended} of ${this.#count} files${failed}${rest}`
  }

  #describeUnfinished(): string[] {
    const lines = [...this.#begun].map(([begun, at]) => {
      const name =
        begun.type === 'module' ? begun.relativeModuleId : `${begun.module.relativeModuleId}: ${begun.fullName}`
      return `  ${name}, for ${Math.round((Date.now() - at) / MS_PER_MINUTE)} min`
    })
    return [`${this.#present()}. The time limit is exceeded. Unfinished:`, ...lines]
  }
}

function sum(values: Iterable<number>): number {
  let total = 0
  for (const value of values) total += value
  return total
}
