import { activeTraceparent, withSpan } from '../shared/telemetry/telemetry.ts'
import { type Acceptance, kindOf, type Outcome } from './acceptance.store.ts'

interface Waiting {
  readonly call: Acceptance
  /** By `performance.now()`. */
  readonly receivedAt: number
  readonly resolve: (isNew: boolean) => void
  readonly reject: (error: unknown) => void
}

/** Maximum number of calls in one statement. */
const MAX_BATCH = 100

/**
 * Accepts one call. Calls of its kind that arrive while a statement is running are accepted together by the next
 * statement: every statement locks the row of the account, so this keeps calls of a busy account from waiting for each
 * other, and uses one connection. A single call does not wait. Returns false when a generation with its ID was accepted
 * before, and throws the reason for a refusal.
 */
export function acceptTogether(
  accept: (calls: readonly Acceptance[]) => Promise<readonly Outcome[]>,
): (call: Acceptance) => Promise<boolean> {
  /** By kind with a running statement: the calls that wait for its end. */
  const lines = new Map<string, Waiting[]>()

  async function serve(kind: string, line: Waiting[]): Promise<void> {
    while (line.length > 0) await settle(line.splice(0, MAX_BATCH))
    lines.delete(kind)
  }

  async function settle(waiting: readonly Waiting[]): Promise<void> {
    try {
      const outcomes = await accept(
        waiting.map(({ call, receivedAt }) => ({ ...call, waitedSeconds: secondsSince(receivedAt) })),
      )
      for (const [i, { resolve, reject }] of waiting.entries()) {
        const outcome = outcomes[i]
        if (outcome instanceof Error) reject(outcome)
        else resolve(outcome)
      }
    } catch (error) {
      for (const { reject } of waiting) reject(error)
    }
  }

  const join = (call: Acceptance) =>
    new Promise<boolean>((resolve, reject) => {
      const kind = kindOf(call)
      const waiting = { call, receivedAt: call.receivedAt ?? performance.now(), resolve, reject }
      const line = lines.get(kind)
      if (line) {
        line.push(waiting)
        return
      }
      const begun = [waiting]
      lines.set(kind, begun)
      serve(kind, begun)
    })

  return (call) => {
    const attributes = {
      'db.system.name': 'postgresql',
      'drape.account.id': call.accountId,
      'drape.generation.id': call.generationId,
    }
    return withSpan('accept generation', { kind: 'client', attributes }, () =>
      join({ ...call, traceparent: activeTraceparent() }),
    )
  }
}

function secondsSince(receivedAt: number): number {
  return (performance.now() - receivedAt) / 1000
}
