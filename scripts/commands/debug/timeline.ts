import type { GenerationLife, LifeDelivery, LifeObject } from '../../../api/generations/generation-life.store.ts'

interface Moment {
  readonly at: Date | string | null
  readonly event: string
  readonly detail?: string | null
}

interface Sources {
  readonly life: GenerationLife
  readonly objects: readonly LifeObject[]
  readonly charges: readonly { readonly at: Date; readonly kind: string; readonly amount: number }[]
  readonly deliveries: readonly LifeDelivery[]
  readonly acts: readonly { readonly at: Date; readonly action: string }[]
}

/** What happened, and what is due, in the order of time; `seconds` count from the acceptance. All times are of the database's clock. */
export function createTimeline({ life, objects, charges, deliveries, acts }: Sources) {
  const moments: Moment[] = [
    ...objects.map(({ role, storedAt }) => ({ at: storedAt, event: `${role} stored` })),
    { at: life.createdAt, event: 'accepted', detail: describeEngine(life) },
    ...charges.map(({ at, kind, amount }) => ({ at, event: CHARGES[kind] ?? kind, detail: `${amount} credits` })),
    ...attemptsOf(life),
    ...acts.map(({ at, action }) => ({ at, event: action })),
    ...endOf(life),
    ...deliveries.flatMap(deliveryOf),
    ...objects.map(({ role, expiresAt }) => ({ at: expiresAt, event: `${role} expires` })),
  ]
  const sorted = moments
    .flatMap(({ at, event, detail = null }) => (at === null ? [] : [{ at: new Date(at), event, detail }]))
    .sort((a, b) => a.at.getTime() - b.at.getTime())
    .map(({ at, ...moment }) => ({ at, seconds: (at.getTime() - life.createdAt.getTime()) / 1000, ...moment }))
  return {
    timeline: sorted.filter(({ at }) => at <= life.now),
    ahead: sorted.filter(({ at }) => at > life.now),
  }
}

const CHARGES: Readonly<Record<string, string>> = { reserve: 'charged', refund: 'refunded' }

const ENDS = {
  lost: 'lease expired: the worker was lost',
  retried: 'attempt failed, another may follow',
  spared: 'attempt handed back: the device of the worker failed',
}

function describeEngine({ engine, requestedEngine }: GenerationLife): string {
  return requestedEngine === null ? `engine ${engine}` : `engine ${engine}, instead of ${requestedEngine}`
}

function attemptsOf(life: GenerationLife): Moment[] {
  const { pastAttempts, outbox, status } = life
  const past = pastAttempts.flatMap(({ attempt, worker, dispatchedAt, startedAt, endedAt, reason }) => [
    { at: dispatchedAt, event: 'dispatched', detail: `attempt ${attempt}` },
    { at: startedAt, event: 'started', detail: `attempt ${attempt} on ${worker}` },
    { at: endedAt, event: ENDS[reason], detail: `attempt ${attempt} on ${worker}` },
  ])
  const last = pastAttempts.at(-1)
  const isRecorded = last !== undefined && isSame(last.startedAt, life.startedAt)
  // Until the next start the row describes the attempt before.
  const attempt = status === 'PENDING' ? 'an earlier attempt' : `attempt ${life.attempt}`
  const latest = isRecorded
    ? []
    : [
        { at: life.dispatchedAt, event: 'dispatched', detail: attempt },
        { at: life.startedAt, event: 'started', detail: `${attempt} on ${life.worker}` },
      ]
  if (status !== 'PENDING' || outbox === null) return [...past, ...latest]
  const queued = { at: outbox.dispatchedAt, event: 'dispatched', detail: `attempt ${life.attempt} to ${outbox.queue}` }
  const retry = { at: outbox.availableAt, event: 'attempt due', detail: `attempt ${life.attempt}` }
  return [...past, ...latest, queued, ...(new Date(outbox.availableAt) > life.now ? [retry] : [])]
}

function isSame(text: string | null, time: Date | null): boolean {
  return text !== null && time !== null && new Date(text).getTime() === time.getTime()
}

function endOf({ status, finishedAt, errorCode, deadlineAt, leaseUntil }: GenerationLife): Moment[] {
  if (finishedAt !== null) return [{ at: finishedAt, event: status.toLowerCase(), detail: errorCode }]
  return [
    { at: leaseUntil, event: 'lease expires', detail: 'renewed every 2 s while the worker lives' },
    { at: deadlineAt, event: 'deadline', detail: 'the generation fails with GENERATION_TIMEOUT' },
  ]
}

function deliveryOf(delivery: LifeDelivery): Moment[] {
  const { endpointId, type, status, attempts, queuedAt, lastAttemptAt, lastStatus, nextAttemptAt, endedAt } = delivery
  const answer = lastStatus === null ? 'no answer' : `HTTP ${lastStatus}`
  return [
    { at: queuedAt, event: 'webhook queued', detail: `${type} to ${endpointId}` },
    ...(status === 'waiting'
      ? [
          {
            at: lastAttemptAt,
            event: 'webhook attempt failed',
            detail: `${endpointId}: attempt ${attempts}, ${answer}`,
          },
          { at: nextAttemptAt, event: 'webhook attempt due', detail: `${endpointId}: attempt ${attempts + 1}` },
        ]
      : [{ at: endedAt, event: `webhook ${status}`, detail: `${endpointId}: attempt ${attempts}, ${answer}` }]),
  ]
}

/** URLs may hold signatures, and names of hosts and files may name persons. */
export function withoutAddresses(text: string): string {
  return text.replaceAll(/\b[a-z][a-z0-9+.-]*:\/\/\S+/gi, '(URL)').replaceAll(/'\/[^']*'/g, '(path)')
}
