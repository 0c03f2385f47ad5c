import type { Reporter, TestCase, TestModule, Vitest } from 'vitest/node'

const MS_PER_MINUTE = 60_000
/** Time for a stopped run to write its report and exit. */
const GRACE_MS = MS_PER_MINUTE

/**
 * Stops a vitest run at a deadline and lists the tests that have not finished, which an external timeout could not do.
 * `TEST_DEADLINE` is the deadline in milliseconds since 1970; no limit if it is not set.
 */
export default class TimeLimit implements Reporter {
  readonly #begun = new Map<TestModule | TestCase, number>()
  #timers: NodeJS.Timeout[] = []

  onInit(vitest: Vitest): void {
    const deadline = Number(process.env.TEST_DEADLINE)
    if (!deadline) return
    const left = Math.max(0, deadline - Date.now())
    this.#timers = [
      setTimeout(() => {
        for (const line of this.#describe()) console.log(line)
        void vitest.cancelCurrentRun('test-failure')
      }, left),
      setTimeout(() => process.exit(1), left + GRACE_MS),
    ]
    for (const timer of this.#timers) timer.unref()
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
  }

  #describe(): string[] {
    const lines = [...this.#begun].map(([begun, at]) => {
      const name =
        begun.type === 'module' ? begun.relativeModuleId : `${begun.module.relativeModuleId}: ${begun.fullName}`
      return `  ${name}, for ${Math.round((Date.now() - at) / MS_PER_MINUTE)} min`
    })
    return ['The time limit of the run is exceeded. Unfinished:', ...lines]
  }
}
