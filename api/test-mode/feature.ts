import type { Feature } from '../feature.ts'
import { simulateRefusals } from './refusals.ts'

/** Try-ons of test keys, which need no worker and no credits. */
export const testMode: Feature = {
  name: 'test-mode',
  guard: simulateRefusals(),
  start: async ({ database, generations, objects, storage, lifecycle, log }) => {
    const [{ startTestMode }, { createTestMode }] = await Promise.all([
      import('./runner.ts'),
      import('./test-mode.store.ts'),
    ])
    const runner = startTestMode({ testMode: createTestMode(database), generations, objects, storage, log })
    lifecycle.onStop('test mode', () => runner.stop())
    return { onAccepted: runner.wake }
  },
}
