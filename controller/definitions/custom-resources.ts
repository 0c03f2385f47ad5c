import { engines } from '../engine/resource.ts'
import { retentionPolicies, sweeps } from '../retention/resource.ts'
import { scalingPolicies } from '../scaling-policy/resource.ts'
import { workerPools } from '../worker-pool/resource.ts'
import type { CustomResource } from './custom-resource.ts'

/** All custom resources of the controller. */
export const CUSTOM_RESOURCES: readonly CustomResource<unknown>[] = [
  workerPools,
  scalingPolicies,
  engines,
  retentionPolicies,
  sweeps,
]
