import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from './client.ts'
import { KubernetesError } from './kubernetes-error.ts'
import type { KubernetesObject, ObjectName, ResourceType } from './resource.ts'

const LEASES: ResourceType = {
  group: 'coordination.k8s.io',
  version: 'v1',
  plural: 'leases',
  kind: 'Lease',
  namespaced: true,
}

interface Lease extends KubernetesObject {
  readonly spec: {
    readonly holderIdentity?: string
    readonly leaseDurationSeconds?: number
    readonly acquireTime?: string
    readonly renewTime?: string
    readonly leaseTransitions?: number
  }
}

export interface Election {
  isLeader(): boolean
  /** Max milliseconds that a write may take. Throws if this process is not the leader. */
  fence(): number
  /** Steps down immediately, so that another process can take over without waiting. */
  stop(): Promise<void>
}

export interface ElectionOptions {
  readonly client: Client
  readonly lease: Required<ObjectName>
  /** Unique among all processes ever started. */
  readonly identity: string
  readonly onElected: () => void
  readonly onLost: () => void
  readonly onFault?: (error: unknown) => void
  /** Seconds after which another process may take over a lease that was not renewed. */
  readonly leaseSeconds?: number
  /** Seconds after which a leader that cannot renew stops acting: well before another process may start. */
  readonly renewSeconds?: number
  readonly retrySeconds?: number
}

/**
 * Elects one of many processes by a Lease object. Each process measures time on its own monotonic clock from the moment at which
 * it observed a change of the lease, as client-go does, so clocks need not agree.
 */
export function startElection(options: ElectionOptions): Election {
  const { client, lease: name, identity, onElected, onLost, onFault = () => {} } = options
  const { leaseSeconds = 15, renewSeconds = 10, retrySeconds = 2 } = options
  const stopping = new AbortController()
  let seen: { renewal: string; at: number } | null = null
  let renewedAt: number | null = null
  let reported = false

  const isLeader = () => renewedAt !== null && performance.now() - renewedAt < renewSeconds * 1000
  const report = () => {
    const leads = isLeader()
    if (leads === reported) return
    reported = leads
    if (leads) onElected()
    else onLost()
  }

  async function round(): Promise<void> {
    const sentAt = performance.now()
    const current = await client.get<Lease>(LEASES, name)
    if (current === null) await client.create<Lease>(LEASES, { metadata: name, spec: take(null) })
    else if (mayTake(current)) await client.replace(LEASES, { ...current, spec: take(current) })
    else {
      renewedAt = null
      return
    }
    // Counted from before the write: other processes count from the moment they observe it.
    renewedAt = sentAt
  }

  function mayTake({ spec }: Lease): boolean {
    if (!spec.holderIdentity || spec.holderIdentity === identity) return true
    const renewal = `${spec.holderIdentity} ${spec.renewTime}`
    if (seen?.renewal !== renewal) seen = { renewal, at: performance.now() }
    return performance.now() - seen.at > (spec.leaseDurationSeconds ?? leaseSeconds) * 1000
  }

  function take(current: Lease | null): Lease['spec'] {
    const now = new Date().toISOString().replace('Z', '000Z')
    const before = current?.spec
    const mine = before?.holderIdentity === identity
    return {
      holderIdentity: identity,
      leaseDurationSeconds: leaseSeconds,
      acquireTime: mine ? before?.acquireTime : now,
      renewTime: now,
      leaseTransitions: (before?.leaseTransitions ?? 0) + (mine || before === undefined ? 0 : 1),
    }
  }

  async function campaign(): Promise<void> {
    while (!stopping.signal.aborted) {
      await round().catch((error) => {
        // Another controller was faster; the next read shows which one.
        if (!(error instanceof KubernetesError && error.status === 409)) onFault(error)
      })
      report()
      const pause = retrySeconds * 1000 * (isLeader() ? 1 : 0.75 + Math.random() / 4)
      await sleep(pause, undefined, { signal: stopping.signal }).catch(() => {})
    }
  }

  // A renewal that hangs must not extend the leadership.
  const watchdog = setInterval(report, 250)
  watchdog.unref()
  const campaigning = campaign()
  return {
    isLeader,
    fence: () => {
      if (renewedAt === null || !isLeader()) throw notLeader()
      return renewedAt + leaseSeconds * 1000 - performance.now()
    },
    stop: async () => {
      const led = isLeader()
      stopping.abort()
      await campaigning
      clearInterval(watchdog)
      renewedAt = null
      report()
      if (led) await release(client, name, identity).catch(onFault)
    },
  }
}

/** The error of a process that must not act, because it is not the leader or has not been all the time. */
export function notLeader(): KubernetesError {
  return new KubernetesError(0, 'This process is no longer the leader', { reason: 'NotLeader' })
}

async function release(client: Client, name: Required<ObjectName>, identity: string): Promise<void> {
  const current = await client.get<Lease>(LEASES, name)
  if (current?.spec.holderIdentity !== identity) return
  const spec = { ...current.spec, holderIdentity: '', leaseDurationSeconds: 1 }
  await client.replace(LEASES, { ...current, spec })
}
