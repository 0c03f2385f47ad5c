import { createServer } from 'node:http'
import { request } from 'node:https'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import type { ControlPlane } from './control-plane.ts'
import { writeKubeconfig } from './namespace.ts'
import { startPoolStage } from './pool-stage.ts'
import { saturate } from './saturate.ts'
import { findSharedControlPlane } from './shared-control-plane.ts'

const controlPlane = await findSharedControlPlane()

const CAP = 5
const template = { image: 'drape/worker:test', requests: { cpu: '1' } }

describe.skipIf(!controlPlane?.hasControllers)('an API server that refuses all requests for 20 s', () => {
  it('delays a smaller pool, interrupts no job, and is asked no more often than it allows', async () => {
    if (controlPlane === null) return
    await using line = await startLine(controlPlane)
    const kubeconfig = await writeKubeconfig(controlPlane, { server: line.url })
    await using stage = await startPoolStage(controlPlane, { env: async () => ({ KUBECONFIG: kubeconfig }) })
    const of = (replicas: number) => fixed(replicas, 'drape/worker:1', {}, { removeBusy: true })
    await using pool = await saturate(stage, 'waiting', { workers: 12, jobMs: 3000, spec: of(12) })
    line.refuse(true)
    await stage.apply('waiting', of(CAP))
    await sleep(20_000)
    expect(stage.podsOf('waiting')).toHaveLength(12)
    expect(line.refused()).toBeGreaterThan(0)
    // The election of a leader asks every second.
    expect(line.refused()).toBeLessThan(100)
    line.refuse(false)
    await stage.untilReady('waiting', CAP)
    expect(pool.busy()).toHaveLength(CAP)
    expect(stage.workers.interrupted).toEqual([])
    expect(await stage.eventsOf('waiting', 'WrongVictim')).toEqual([])
  })
})

/** A way to the API server on which it can answer as if it had too many requests; watches that are open continue, as there. */
async function startLine(controlPlane: ControlPlane) {
  let [isRefusing, refused] = [false, 0]
  const server = createServer((asked, answer) => {
    if (isRefusing) {
      refused++
      const body = { kind: 'Status', apiVersion: 'v1', status: 'Failure', reason: 'TooManyRequests', code: 429 }
      answer.writeHead(429, { 'retry-after': '1', 'content-type': 'application/json' }).end(JSON.stringify(body))
      return
    }
    const { method, headers, url = '' } = asked
    const passed = request(new URL(url, controlPlane.server), { method, headers, ca: controlPlane.certificate })
    passed.on('error', () => answer.destroy())
    passed.on('response', (response) => {
      answer.writeHead(response.statusCode ?? 502, response.headers)
      response.pipe(answer)
      response.on('error', () => answer.destroy())
      answer.on('close', () => response.destroy())
    })
    asked.pipe(passed)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    refuse: (value: boolean) => {
      isRefusing = value
    },
    refused: () => refused,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      server.close()
    },
  }
}

function fixed(replicas: number, image: string, rollout: object, drain: object = {}) {
  return {
    engines: ['mock'],
    replicas,
    scaling: { mode: 'Fixed' },
    rollout,
    drain,
    template: { ...template, image },
  }
}
