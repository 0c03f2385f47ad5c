import { isEnded, isWorkerReady, type Pod, readPod } from '../worker-pool/workers/pods.ts'
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
  const results = pods.flatMap((pod) => resultOf(engine, pod) ?? [])
  const failed = results.filter((result) => result !== 'passed')
  return {
    passed: results.length - failed.length,
    problem: failed.length > 0 ? lastLineOf(failed[0].message) : null,
    proven: pods.map(readPod).filter(({ ready, deleting }) => ready && !deleting).length,
  }
}

/** The result of a pod's check: a failure with its message, or null while it is unknown. */
function resultOf(engine: string, pod: Pod): 'passed' | { readonly message?: string } | null {
  const { metadata, status } = pod
  const ours = status?.initContainerStatuses?.find(({ name }) => name === `${CHECK_PREFIX}${engine}`)
  if (!ours) return null
  const ended = ours.state?.terminated ?? ours.lastState?.terminated
  // A sidecar is ready while the files are complete. It may restart beside a worker that has opened them, and ends with its pod.
  if (ours.ready || ended?.exitCode === 0 || isWorkerReady(pod)) return 'passed'
  const isLeaving = metadata.deletionTimestamp !== undefined || isEnded(pod)
  return ended === undefined || isLeaving ? null : { message: ended.message }
}

function lastLineOf(message: string | undefined): string {
  return message?.trim().split('\n').at(-1) || 'The files could not be checked.'
}
