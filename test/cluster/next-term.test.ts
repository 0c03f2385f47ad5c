import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { until } from '../support/until.ts'
import { REPLICA_SETS } from './kinds.ts'
import { type PoolStage, startPoolStage } from './pool-stage.ts'
import { findSharedControlPlane } from './shared-control-plane.ts'

const controlPlane = await findSharedControlPlane()

const fixed = (replicas: number, more: object = {}) => ({
  engines: ['mock'],
  replicas,
  scaling: { mode: 'Fixed' },
  ...{ template: { image: 'drape/worker:test', requests: { cpu: '1' } } },
  ...more,
})

describe.skipIf(!controlPlane?.hasControllers)('a controller that leads again after another one', () => {
  let stage: PoolStage

  beforeAll(async () => {
    if (controlPlane !== null) stage = await startPoolStage(controlPlane)
  })
  afterAll(() => stage?.[Symbol.asyncDispose]())

  it('removes no worker of a paused pool that the other one made larger', async () => {
    await stage.apply('grown', fixed(2))
    await stage.untilReady('grown', 2)
    const other = await stage.startController()
    // Loses its lease without an exit.
    process.kill(stage.controller.pid, 'SIGSTOP')
    await stage.apply('grown', fixed(6))
    await stage.untilReady('grown', 6)
    const pods = stage.podsOf('grown')
    expect(pods.filter((pod) => stage.workers.work(pod))).toEqual(pods)
    const paused = { reason: 'an audit', until: new Date(Date.now() + 600_000).toISOString() }
    await stage.apply('grown', fixed(6, { paused }))
    await until(async () => (await stage.conditionOf('grown', 'Paused'))?.status === 'True')
    await other.end('SIGKILL')
    process.kill(stage.controller.pid, 'SIGCONT')
    // Its decision of this term.
    const decided = new RegExp(`^drape_pool_bounds\\{[^}]*"${stage.namespace}/grown"[^}]*"desired"[^}]*\\} 6$`, 'm')
    await until(async () => decided.test(await (await fetch(`${stage.controller.probeUrl}/metrics`)).text()))
    expect(await stage.get(REPLICA_SETS, 'grown-workers')).toMatchObject({ spec: { replicas: 6 } })
    expect(stage.podsOf('grown')).toEqual(pods)
    expect(stage.workers.interrupted).toEqual([])
    expect(await stage.eventsOf('grown', 'WrongVictim')).toEqual([])
  })
})
