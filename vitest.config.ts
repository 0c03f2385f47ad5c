import { defineConfig } from 'vitest/config'

/** Tests that take the whole machine: they come after the others, one at a time. */
const ALONE = [
  'test/faults/**/*.test.ts',
  'test/cluster/**/*.test.ts',
  'test/chart/lifecycle.test.ts',
  'test/observability/watched.test.ts',
  'test/storefront-flow.test.ts',
  'test/dashboard-flow.test.ts',
  'test/dashboard-sign-on-flow.test.ts',
  'test/playground-flow.test.ts',
  'test/client/browser.test.ts',
  'test/widget/flow.test.ts',
  'test/widget/faults.test.ts',
  'test/widget/looks.test.ts',
]
const ALL = ['test/**/*.test.ts']

export default defineConfig({
  test: {
    globalSetup: 'test/support/global-setup.ts',
    // Never an expectation: how long a test that hangs holds up the others.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    projects: [
      { extends: true, test: { name: 'together', include: ALL, exclude: ALONE, sequence: { groupOrder: 0 } } },
      {
        extends: true,
        test: {
          name: 'alone',
          include: ALONE,
          fileParallelism: false,
          testTimeout: 240_000,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
})
