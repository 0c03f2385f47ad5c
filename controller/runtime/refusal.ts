import { KubernetesError } from './kubernetes-error.ts'

/** Status codes of invalid or forbidden requests. */
const REFUSED: readonly number[] = [400, 403, 422]
/** After this many failures a retry is unlikely to succeed soon. */
const MANY_FAILURES = 3

/**
 * Returns the API server's error if a retry is unlikely to help; rethrows every other error. `failures` is the number of preceding
 * consecutive failures.
 */
export function refusalOf(error: unknown, failures: number): KubernetesError {
  if (!(error instanceof KubernetesError)) throw error
  const lasts = error.status >= 500 && failures >= MANY_FAILURES
  if (!lasts && !REFUSED.includes(error.status)) throw error
  return error
}
