import { expect, it } from 'vitest'
import { lifetimesOf } from '../../../controller/retention/policy-lifetimes.ts'
import { retentionPolicies } from '../../../controller/retention/resource.ts'

it.for([
  [['person', 'product', 'result'], undefined, 'images 1d/3d/7d, products 7d/15d'],
  [['person', 'product', 'result'], 259_200, 'images 1d/3d, products 3d'],
  [['result'], 45 * 86_400, 'result images 1d/3d/7d'],
  [['product'], 36 * 3600, 'products 36h'],
  [['person', 'result'], 90, 'images 90s'],
] as const)('a policy for %j with ttlSeconds %s has the lifetimes "%s"', ([kinds, ttlSeconds, lifetimes]) => {
  const read = retentionPolicies.read({ metadata: { name: 'a' }, spec: { selector: { kinds }, ttlSeconds } })
  if ('problems' in read) throw new Error(read.problems)
  expect(lifetimesOf(read.object.spec)).toBe(lifetimes)
})
