import { describe, expect, it } from 'vitest'
import {
  avoidsSickNodes,
  findWaitingForHint,
  withNodeHint,
} from '../../../../controller/worker-pool/workers/node-hint.ts'
import type { Pod } from '../../../../controller/worker-pool/workers/pods.ts'

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

describe('nodes that rejected workers', () => {
  const names = ['gpu-a', 'gpu-b']
  const excluded = names.map((name) => ({ key: 'metadata.name', operator: 'NotIn', values: [name] }))
  const termsOf = (affinity: object) => {
    const template = { metadata: { annotations: {} }, spec: { affinity } }
    const hinted = withNodeHint(template, { avoidsSick: false, avoidedNodes: names })
    const { nodeAffinity } = hinted.spec.affinity as { nodeAffinity?: { [required]: { nodeSelectorTerms: unknown } } }
    return nodeAffinity?.[required].nodeSelectorTerms
  }
  const required = 'requiredDuringSchedulingIgnoredDuringExecution'

  it('are excluded by name, beside each of the terms of the pool', () => {
    expect(termsOf({})).toEqual([{ matchFields: excluded }])
    const terms = ['spot', 'on-demand'].map((tier) => ({ matchExpressions: [{ key: tier, operator: 'Exists' }] }))
    expect(termsOf({ nodeAffinity: { [required]: { nodeSelectorTerms: terms } } })).toEqual(
      terms.map((term) => ({ ...term, matchFields: excluded })),
    )
  })

  it('have the workers replaced that wait for a node with an earlier list', () => {
    const waiting = (name: string, nodes?: string): Pod => ({
      metadata: {
        name,
        namespace: 'shop',
        annotations: nodes === undefined ? {} : { 'drape.dev/avoids-nodes': nodes },
      },
      status: { phase: 'Pending' },
    })
    const pods = [waiting('current', 'gpu-a,gpu-b'), waiting('earlier', 'gpu-a'), waiting('free')]
    const find = (avoidedNodes: readonly string[]) =>
      findWaitingForHint(pods, sick(), { avoidsSick: false, avoidedNodes })
    expect(find(names)).toEqual(['earlier'])
    expect(find([])).toEqual(['current', 'earlier'])
  })
})
