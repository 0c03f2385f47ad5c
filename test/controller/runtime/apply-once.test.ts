import { expect, it } from 'vitest'
import { createApplyOnce, type Live } from '../../../controller/runtime/apply-once.ts'
import type { Client, Sent } from '../../../controller/runtime/client.ts'
import { REPLICA_SETS } from '../../../controller/worker-pool/template/replica-set.ts'

const OBJECT: Sent = { metadata: { namespace: 'shop', name: 'pool-workers', labels: { team: 'shop' } }, spec: {} }

function startController(admit: (labels: Readonly<Record<string, string>>) => Readonly<Record<string, string>>) {
  const seen = { applied: 0, reverted: 0 }
  let live: Live | undefined
  const apply = async (_: unknown, { metadata }: Sent) => {
    seen.applied++
    live = { metadata: { ...metadata, uid: 'u', generation: 1, labels: admit(metadata.labels ?? {}) }, touched: false }
    return live
  }
  const applyOnce = createApplyOnce({ apply } as unknown as Client, {
    annotation: 'drape.dev/applied',
    onReverted: async () => {
      seen.reverted++
    },
  })
  return {
    seen,
    reconcile: () => applyOnce(REPLICA_SETS, OBJECT, live),
    relabel: (labels: Readonly<Record<string, string>>) => {
      if (live) live = { ...live, metadata: { ...live.metadata, labels } }
    },
  }
}

it('an object whose labels an admission webhook changes is applied once, and no change is reported', async () => {
  const { seen, reconcile } = startController(() => ({ team: 'platform' }))
  expect(await reconcile()).toBe(true)
  for (let pass = 0; pass < 3; pass++) expect(await reconcile()).toBe(false)
  expect(seen).toEqual({ applied: 1, reverted: 0 })
})

it('a changed label is restored and reported once', async () => {
  const { seen, reconcile, relabel } = startController((labels) => labels)
  await reconcile()
  relabel({ team: 'other' })
  for (let pass = 0; pass < 3; pass++) await reconcile()
  expect(seen).toEqual({ applied: 2, reverted: 1 })
})
