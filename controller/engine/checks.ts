import { type Pod, readPod } from '../worker-pool/pods.ts'
import { CHECK_PREFIX } from './volume.ts'

/** Results of the workers' file checks for an engine. */
export interface Checks {
  readonly passed: number
  /** Message of the last failed check that has not passed since; null if none failed. */
  readonly problem: string | null
  /** Number of workers that accept jobs, so whose self-tests passed. */
  readonly proven: number
}

/** Reads the results from the status of pods and of their init containers. */
export function readChecks(engine: string, pods: readonly Pod[]): Checks {
  const found = pods.flatMap(({ status }) => status?.initContainerStatuses ?? [])
  const ours = found.filter(({ name }) => name === `${CHECK_PREFIX}${engine}`)
  const ended = ours.map(({ state, lastState }) => state?.terminated ?? lastState?.terminated)
  const failed = ended.filter((each) => each !== undefined && each.exitCode !== 0)
  return {
    passed: ended.filter((each) => each?.exitCode === 0).length,
    problem: failed.length > 0 ? lastLineOf(failed[0]?.message) : null,
    proven: pods.map(readPod).filter(({ ready, deleting }) => ready && !deleting).length,
  }
}

function lastLineOf(message: string | undefined): string {
  return message?.trim().split('\n').at(-1) || 'The files could not be checked.'
}
