import { failUnlessAllowed } from '../support/missing.ts'
import { requestService } from '../support/request-service.ts'
import type { ControlPlane } from './control-plane.ts'

/** The control plane that all test files share. Fails or returns null as `failUnlessAllowed` does. */
export async function findSharedControlPlane(): Promise<ControlPlane | null> {
  for (;;) {
    const answer = await requestService('controlPlane', null)
    if ('pending' in answer) continue
    if (!('unavailable' in answer)) return answer
    return failUnlessAllowed(`No Kubernetes control plane: ${answer.unavailable}.`)
  }
}
