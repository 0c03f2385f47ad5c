import { availableParallelism } from 'node:os'
import { relative } from 'node:path'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { orderFiles, readDurations } from './scripts/testing/durations.ts'

// Two more than cores: files wait for processes half of their time, and with one more, a third of the processor time stayed unused. Those
// that run in turn have a worker for each lane beside these.
const WORKERS = availableParallelism() + 2

class Sequencer extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const byPath = new Map(files.map((file) => [relative(import.meta.dirname, file.moduleId), file]))
    const paths = orderFiles([...byPath.keys()], readDurations())
    return paths.flatMap((path) => byPath.get(path) ?? [])
  }
}

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: 'test/support/global-setup.ts',
    setupFiles: 'test/support/environment.ts',
    // Files of a worker share its modules, so each package is loaded once per worker. Tests must not leave anything behind in
    // a module.
    isolate: false,
    // Node runs TypeScript as it is; no test mocks a module.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    maxWorkers: WORKERS,
    sequence: { sequencer: Sequencer },
    // Never an expectation: how long a test that hangs holds up the others.
    testTimeout: 480_000,
    hookTimeout: 480_000,
  },
})
