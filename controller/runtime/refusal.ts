import { KubernetesError } from './kubernetes-error.ts'

/** The API server takes what it is sent for wrong or not allowed. */
const REFUSED: readonly number[] = [400, 403, 422]
/** What it could not do so often will not be done by itself soon. */
const MANY_FAILURES = 3

/**
 * What the API server said, when to send the same once more will hardly help; throws every other error on. `failures` counts those
 * in a row before.
 */
export function refusalOf(error: unknown, failures: number): KubernetesError {
  if (!(error instanceof KubernetesError)) throw error
  const lasts = error.status >= 500 && failures >= MANY_FAILURES
  if (!lasts && !REFUSED.includes(error.status)) throw error
  return error
}
