import { gunzipSync } from 'node:zlib'
import fc from 'fast-check'
import type { Pool } from 'undici'
import type { Contract } from '../contract.ts'
import type { Drape } from '../drape.ts'
import type { FuzzedRequest } from './requests.ts'

/** Requests are generated in parts, to limit memory. */
const PART = 500
const AT_ONCE = 8
const ANSWER_MS = 5000

export interface Storm {
  readonly drape: Drape
  readonly pool: Pool
  readonly contract: Contract
  readonly requests: fc.Arbitrary<FuzzedRequest>
  /** Each has 500 requests. */
  readonly parts: number
  readonly seed: number
}

/**
 * Sends every request and returns the counts of statuses. Throws at the first that gets no response within 5 s,
 * a 5xx other than the refusal of `maxWaitSeconds`, or an undocumented response.
 */
export async function sendAll(storm: Storm): Promise<Map<number, number>> {
  const statuses = new Map<number, number>()
  for (let part = 0; part < storm.parts; part++) {
    const queue = fc.sample(storm.requests, { numRuns: PART, seed: storm.seed + part })
    await Promise.all(
      Array.from({ length: AT_ONCE }, async () => {
        for (let request = queue.pop(); request; request = queue.pop()) {
          const status = await sendOne(request, storm)
          statuses.set(status, (statuses.get(status) ?? 0) + 1)
        }
      }),
    )
  }
  return statuses
}

async function sendOne(request: FuzzedRequest, { drape, pool, contract }: Storm): Promise<number> {
  const answer = await receive(request, pool).catch((error) => {
    throw new Error(`${describeRequest(request)} got no answer: ${error}`)
  })
  const isLate = answer.status === 503 && answer.body?.details?.[0]?.estimatedStartSeconds > 0
  if (answer.status >= 500 && !isLate)
    throw new Error(`${describeRequest(request)} → ${answer.status} ${faultsOf(drape)}`)
  contract.hold({ ...request, ...answer })
  return answer.status
}

async function receive({ method, path, headers, body }: FuzzedRequest, pool: Pool) {
  const answer = await pool.request({
    method: method as 'GET',
    path,
    headers,
    body,
    headersTimeout: ANSWER_MS,
    bodyTimeout: ANSWER_MS,
  })
  const status = answer.statusCode
  const contentType = [answer.headers['content-type']].flat()[0] ?? null
  if (contentType?.startsWith('text/event-stream')) {
    answer.body.on('error', () => {}).destroy()
    return { status, contentType, body: null }
  }
  const bytes = Buffer.from(await answer.body.arrayBuffer())
  const isCompressed = answer.headers['content-encoding'] === 'gzip' && bytes.byteLength > 0
  const text = (isCompressed ? gunzipSync(bytes) : bytes).toString()
  if (text === '') return { status, contentType, body: null }
  return { status, contentType, body: contentType?.startsWith('application/json') ? JSON.parse(text) : text }
}

/** Log lines of unexpected errors. */
export function faultsOf({ api }: Drape): string {
  const lines = api.output().split('\n')
  return lines.filter((line) => line.includes('"msg":"request failed"') || /unhandled/i.test(line)).join('\n')
}

function describeRequest({ method, path, headers, body }: FuzzedRequest): string {
  return `${method} ${path.slice(0, 500)} ${JSON.stringify(headers).slice(0, 500)} ${body?.toString('latin1').slice(0, 2000)}`
}
