import type { Reporter, TestCase, TestModule, Vitest } from 'vitest/node'

const MS_PER_MINUTE = 60_000
/** What a run that is stopped has to write its report and to end its processes. */
const GRACE_MS = MS_PER_MINUTE

/**
 * Ends a run of vitest at a point in time and names what has not ended: whoever ends it from outside cannot tell.
 * `TEST_DEADLINE` is that point, in milliseconds since 1970; without it there is no limit.
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
    return ['The time for all tests is over. These had not ended:', ...lines]
  }
}
