import { describe, expect, it } from 'vitest'
import { scalingPolicies } from '../../../controller/scaling-policy/resource.ts'

const POLICY = { metadata: { name: 'test' }, spec: { bounds: { max: 3 }, target: { backlogPerSlot: 1 } } }

describe('an object', () => {
  it('is read without an invalid status of another version', () => {
    const condition = { type: 'Ready', status: 'Perhaps' }
    expect(scalingPolicies.read({ ...POLICY, status: { conditions: [condition] } })).toMatchObject({
      object: { spec: { bounds: { min: 0, max: 3 } }, status: undefined },
    })
    expect(scalingPolicies.read({ ...POLICY, status: { pools: 2 } })).toMatchObject({
      object: { status: { pools: 2 } },
    })
  })

  it('is parsed once', () => {
    const first = scalingPolicies.read(POLICY)
    expect(scalingPolicies.read(POLICY)).toBe(first)
    const invalid = { ...POLICY, spec: { bounds: { max: 0 } } }
    expect(scalingPolicies.read(invalid)).toBe(scalingPolicies.read(invalid))
    expect(scalingPolicies.read({ ...POLICY, spec: { ...POLICY.spec, bounds: { max: 4 } } })).toMatchObject({
      object: { spec: { bounds: { max: 4 } } },
    })
  })

  it('with an invalid spec is reported by field path', () => {
    const spec = { ...POLICY.spec, bounds: { max: 'many' } }
    expect(scalingPolicies.read({ ...POLICY, spec })).toEqual({
      problems: 'spec.bounds.max must be a whole number from 1 to 1000',
    })
  })
})
