import { createHash } from 'node:crypto'
import type { Context, Middleware } from 'koa'
import { v7 as uuidv7 } from 'uuid'
import { ERRORS } from '../../shared/contract/error-codes.ts'
import { DrapeError } from '../../shared/contract/errors.ts'
import {
  CLAIM_SECONDS,
  type Claim,
  type IdempotencyKeys,
  type KeyedRequest,
} from '../../shared/database/idempotency.store.ts'
import { shopperId } from '../../shops/shopper.ts'
import type { AppContext, AppState } from '../state.ts'

const MAX_KEY_LENGTH = 255
const RENEW_MS = (CLAIM_SECONDS * 1000) / 3

/**
 * Makes a POST with an `Idempotency-Key` idempotent: a repetition within 24 hours gets the first response with
 * `Idempotent-Replay: true`. Throws `IDEMPOTENCY_KEY_REUSED` when the key was used for another request, and
 * `IDEMPOTENCY_KEY_IN_USE` while the first request is running.
 *
 * Every request gets a `resourceId` for the resource that it creates. When the process dies or fails, the next request
 * with the key continues with the same ID (`resumed`), so that an existing resource is found and not charged again.
 * Nothing is stored of a rejected request.
 */
export function idempotency({ keys }: { keys: IdempotencyKeys }): Middleware<AppState> {
  return async function once(ctx, next) {
    ctx.state.resourceId = uuidv7()
    ctx.state.resumed = false
    const request = requestOf(ctx)
    if (!request) return next()
    const fingerprint = fingerprintOf(ctx as AppContext, request)
    const claim = await keys.claim(request, { fingerprint, resourceId: ctx.state.resourceId })
    if (claim.state === 'reused') {
      throw new DrapeError('IDEMPOTENCY_KEY_REUSED', 'This Idempotency-Key was sent with another request.')
    }
    if (claim.state === 'running') {
      ctx.set('Retry-After', '1')
      throw new DrapeError('IDEMPOTENCY_KEY_IN_USE', 'The first request with this Idempotency-Key is still running.')
    }
    if (claim.state === 'answered') {
      ctx.set('Idempotent-Replay', 'true')
      return respond(ctx, claim)
    }
    ctx.state.resourceId = claim.resourceId
    ctx.state.resumed = claim.resumed
    return run(ctx, { keys, claim, next })
  }
}

async function run(
  ctx: Context & { state: AppState },
  { keys, claim, next }: { keys: IdempotencyKeys; claim: Claim; next: () => Promise<unknown> },
): Promise<void> {
  const ignore = (error: unknown) =>
    ctx.state.log.warn({ err: error }, 'releasing a claim failed; its lease will expire')
  const renewal = setInterval(() => keys.renew(claim).catch(ignore), RENEW_MS)
  try {
    await next()
    const first = await keys.answer(claim, { status: ctx.status, answer: JSON.stringify(ctx.body) }).catch(ignore)
    if (first) respond(ctx, first)
  } catch (error) {
    // After a fault the work may have been done, and a resumed request may be running elsewhere: both keep their ID.
    const refused = error instanceof DrapeError && ERRORS[error.code].status < 500 && !ctx.state.resumed
    await (refused ? keys.delete(claim) : keys.release(claim)).catch(ignore)
    throw error
  } finally {
    clearInterval(renewal)
  }
}

function respond(ctx: Context, { status, answer }: { status: number; answer: string }): void {
  ctx.status = status
  ctx.type = 'application/json'
  ctx.body = answer
}

function requestOf(ctx: Context & { state: AppState }): KeyedRequest | null {
  const key = ctx.req.headers['idempotency-key']
  // Other methods are idempotent by definition.
  if (ctx.method !== 'POST' || key === undefined) return null
  if (typeof key !== 'string' || key === '' || key.length > MAX_KEY_LENGTH) {
    throw new DrapeError('VALIDATION_FAILED', 'The request is not valid.', {
      details: [{ path: 'Idempotency-Key', message: `must have 1 to ${MAX_KEY_LENGTH} characters` }],
    })
  }
  const { account, shop, shopper } = ctx.state
  const route = (ctx as { _matchedRoute?: string })._matchedRoute ?? ctx.path
  // One shopper must not receive the response to another shopper, whose key could be guessed.
  const requester = shop ? ` ${createHash('sha256').update(shopperId(shop.id, shopper)).digest('base64url')}` : ''
  return { accountId: account.id, route: `${route}${requester}`, key }
}

/** SHA-256 of the request: its body, independent of the order of fields, and the contents of its files. */
function fingerprintOf({ method, state }: AppContext, { route }: KeyedRequest): Buffer {
  const { data: _, ...fields } = state.fields
  const files = state.files.map(({ field, hash }) => [field, hash])
  const request = [method, route, sorted(state.body), sorted(fields), files.toSorted()]
  return createHash('sha256').update(JSON.stringify(request)).digest()
}

/** The value with sorted object fields, as entries, so that no field name has a special meaning. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (value === null || typeof value !== 'object') return value ?? null
  const names = Object.keys(value).sort()
  return { entries: names.map((name) => [name, sorted((value as Record<string, unknown>)[name])]) }
}
