import type { Models } from '../../worker/inference/models.ts'

/** Wraps the models to measure their run time. */
export function timeRuns(models: Models): { models: Models; spent: { ms: number } } {
  const spent = { ms: 0 }
  const session = (name: string) => {
    const { run, ...rest } = models.session(name)
    const timed: typeof run = async (feeds, fetches) => {
      const started = performance.now()
      try {
        return await run(feeds, fetches)
      } finally {
        spent.ms += performance.now() - started
      }
    }
    return { ...rest, run: timed }
  }
  return { models: { session, has: models.has, release: () => models.release() }, spent }
}
