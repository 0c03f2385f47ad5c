import type { Middleware } from 'koa'
import { within } from '../../http/limits/time-limit.ts'
import { parseJsonBody } from '../../http/middleware/body.ts'
import { route } from '../../http/route.ts'
import type { AppContext, AppState } from '../../http/state.ts'
import { DrapeError, type FieldProblem } from '../../shared/contract/errors.ts'
import { compileInputCheck } from '../../shared/contract/schema.ts'
import type { Metrics } from '../../shared/telemetry/metrics.ts'
import type { BudgetedGuards } from '../../shops/behind-proxy.ts'
import { describeBudget } from '../../shops/public-rate-limits.ts'
import { requesterOf } from '../../shops/requester.ts'
import { EmailAnswer, EmailBody } from './email.schema.ts'
import type { LeadOutbox } from './lead-outbox.store.ts'

export interface EmailParts {
  readonly leadOutbox: Pick<LeadOutbox, 'insert'>
  readonly metrics: Metrics
}

interface EmailGuards extends BudgetedGuards {
  readonly metrics: Metrics
}

/** Time limit of the response, so that a shopper's page does not wait longer. */
const ANSWER_MS = 800

export const emailRoutes = [
  route({
    method: 'post',
    path: '/public/collect-email',
    id: 'collectEmail',
    tag: 'Storefront',
    summary: 'Leave an e-mail address with the shop',
    description:
      'Creates or finds the customer of the shop with this address and adds the customer to the segment Widget Leads. This ' +
      `happens after the response; the address is stored before it. ${describeBudget('collect-email')}`,
    access: 'shop',
    body: { json: EmailBody },
    answers: {
      200: {
        description: 'Whether the address was accepted. Failures also return 200, so that shoppers see no error.',
        schema: EmailAnswer,
      },
    },
    errors: [],
    ownCheck: 'body',
    guards: ({ fromShop, budgets, metrics }: EmailGuards) => [
      answerAnyway(metrics),
      fromShop,
      budgets.limit('collect-email'),
      parseJsonBody(),
    ],
    handler: postEmail,
  }),
]

const checkEmail = compileInputCheck(EmailBody)

async function postEmail(
  ctx: AppContext,
  { leadOutbox, metrics }: EmailParts,
  { body }: { readonly body: unknown },
): Promise<EmailAnswer> {
  const { shop, shopperId: externalUserId } = requesterOf(ctx)
  const checked = checkEmail(withoutSpaces(body))
  if (!checked.ok) return { success: false, message: describeProblems(checked.problems) }
  // Confirm only a stored address: no crash of this process can lose it.
  const isTaken = await leadOutbox.insert({ shopId: shop.id, externalUserId, ...checked.value })
  if (isTaken) return { success: true, message: 'Thank you.' }
  drop(ctx, metrics, 'too many leads of the shop await delivery')
  return { success: false, message: 'Too many e-mail addresses of the shop await delivery. Try again later.' }
}

/** Users and their keyboards add spaces around addresses. */
function withoutSpaces(body: unknown): unknown {
  if (typeof body !== 'object' || body === null || !('email' in body)) return body
  return typeof body.email === 'string' ? { ...body, email: body.email.trim() } : body
}

/**
 * Only an unauthenticated request gets an error; shoppers see none. Work that exceeds the time limit continues: the address is stored if
 * the database responds later.
 */
function answerAnyway(metrics: Metrics): Middleware<AppState> {
  return async function anyway(ctx, next) {
    const storing = next().catch((error: unknown) => {
      if (isFault(error)) drop(ctx, metrics, (error as Error).name)
      throw error
    })
    try {
      await within(ANSWER_MS, storing)
    } catch (error) {
      if (error instanceof DrapeError && error.code === 'PROXY_SIGNATURE_INVALID') throw error
      ctx.status = 200
      ctx.body = { success: false, message: isFault(error) ? 'Try again later.' : messageOf(error) }
    }
  }
}

function isFault(error: unknown): boolean {
  return !(error instanceof DrapeError) || error.retryable
}

/** Records the loss of an address; the reason never contains the address. */
function drop({ state }: Pick<AppContext, 'state'>, metrics: Metrics, reason: string): void {
  metrics.leads.inc({ outcome: 'dropped' })
  state.log.error({ reason }, 'lead not stored')
}

function messageOf(error: unknown): string {
  if (!(error instanceof DrapeError)) return 'Try again later.'
  if (error.code === 'RATE_LIMIT_EXCEEDED') return 'Too many addresses. Try again later.'
  return Array.isArray(error.details) ? describeProblems(error.details) : error.message
}

function describeProblems(problems: readonly FieldProblem[]): string {
  return problems
    .map(({ path, message }) => {
      if (path === 'email' && message !== 'is required') return 'The e-mail address is not valid.'
      return `${path === '' ? 'The body' : `The field ${path}`} ${message}.`
    })
    .join(' ')
}
