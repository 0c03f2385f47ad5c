import fc from 'fast-check'
import { type ScalingRules, scalingPolicies } from '../../../controller/scaling-policy/resource.ts'
import type { Demand } from '../../../controller/worker-pool/scaling/decide.ts'

/** Rules with all defaults filled in. Throws where they are not valid. */
export function scalingRules(spec: unknown): ScalingRules {
  const read = scalingPolicies.read({ metadata: { name: 'test' }, spec })
  if ('problems' in read) throw new Error(read.problems)
  return read.object.spec
}

export const anyDemand: fc.Arbitrary<Demand> = fc.record({
  waiting: fc.oneof(fc.constant(0), fc.nat(500)),
  inFlight: fc.oneof(fc.constant(0), fc.nat(50)),
  oldestWaitSeconds: fc.nat(120),
  secondsPerJob: fc.double({ min: 0.1, max: 30, noNaN: true }),
})

const anyTarget = fc.oneof(
  fc.record({ backlogPerSlot: fc.double({ min: 0.1, max: 20, noNaN: true }) }),
  fc.record({ drainWithinSeconds: fc.integer({ min: 1, max: 600 }) }),
  fc.record({ oldestWaitSeconds: fc.integer({ min: 1, max: 600 }) }),
)

export const anyRules: fc.Arbitrary<ScalingRules> = fc
  .record({
    bounds: fc.tuple(fc.nat(10), fc.nat(40), fc.nat(3)),
    target: anyTarget,
    up: fc.tuple(fc.constantFrom(0, 0, 30), fc.integer({ min: 1, max: 20 }), fc.integer({ min: 1, max: 120 })),
    down: fc.tuple(fc.constantFrom(0, 60, 300), fc.integer({ min: 1, max: 20 }), fc.integer({ min: 1, max: 120 })),
    idleSeconds: fc.constantFrom(0, 60, 600),
    cost: fc.option(
      fc.record({
        hourlyCap: fc.double({ min: 0, max: 30, noNaN: true }),
        mode: fc.constantFrom('Soft', 'Hard'),
      }),
      { nil: undefined },
    ),
  })
  .map(({ bounds: [min, above, idleBuffer], target, up, down, idleSeconds, cost }) =>
    scalingRules({
      bounds: { min, max: Math.max(1, min + above), idleBuffer },
      target,
      scaleUp: { stabilizationSeconds: up[0], maxReplicas: up[1], periodSeconds: up[2] },
      scaleDown: { stabilizationSeconds: down[0], maxReplicas: down[1], periodSeconds: down[2] },
      zero: { idleSeconds },
      ...(cost && { cost }),
    }),
  )
