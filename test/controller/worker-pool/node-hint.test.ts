import { expect, it } from 'vitest'
import { avoidsSickNodes } from '../../../controller/worker-pool/node-hint.ts'
import type { Pod } from '../../../controller/worker-pool/pods.ts'

const podOn = (name: string, nodeName: string, ready = true): Pod => ({
  metadata: { name, namespace: 'shop' },
  spec: { nodeName },
  status: { phase: 'Running', conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }] },
})
const sick = (...names: string[]) => ({ held: new Set(names), replaced: new Set<string>() })

it('new workers stay off avoided nodes only while another node runs a worker', () => {
  const [first, beside, elsewhere] = [podOn('first', 'a', false), podOn('beside', 'a'), podOn('elsewhere', 'b')]
  expect(avoidsSickNodes([first, beside, elsewhere], sick('first'))).toBe(true)
  // The node of a worker that is only replaced is not avoided yet.
  expect(avoidsSickNodes([first, beside, elsewhere], { ...sick(), replaced: new Set(['first']) })).toBe(false)
  expect(avoidsSickNodes([first, elsewhere], { ...sick('first'), replaced: new Set(['elsewhere']) })).toBe(false)
  expect(avoidsSickNodes([first, beside], sick('first'))).toBe(false)
  expect(avoidsSickNodes([first, podOn('starting', 'b', false)], sick('first'))).toBe(false)
  expect(avoidsSickNodes([first, elsewhere], sick('first', 'elsewhere'))).toBe(false)
  expect(avoidsSickNodes([beside, elsewhere], sick())).toBe(false)
})
