import { requestService } from '../support/request-service.ts'
import type { ControlPlane } from './control-plane.ts'

/**
 * The control plane that all test files share; null, with one line on the console, where there can be none. In continuous
 * integration that is a failure.
 */
export async function findSharedControlPlane(): Promise<ControlPlane | null> {
  for (;;) {
    const answer = await requestService('controlPlane', null)
    if ('pending' in answer) continue
    if (!('unavailable' in answer)) return answer
    const reason = `No Kubernetes control plane: ${answer.unavailable}`
    if (process.env.CI === 'true') throw new Error(reason)
    console.warn(`${reason}. Its tests are skipped.`)
    return null
  }
}
