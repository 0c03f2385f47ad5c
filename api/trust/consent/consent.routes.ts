import { assertCurrent } from '../../consents/check-consent.ts'
import type { Consents } from '../../consents/consents.store.ts'
import { chooseText, currentPolicy } from '../../consents/policies.ts'
import { route } from '../../http/route.ts'
import type { AppContext } from '../../http/state.ts'
import { DrapeError } from '../../shared/contract/errors.ts'
import type { Customer } from '../../shared/retention/customer.ts'
import type { BudgetedGuards, ParsingGuards } from '../../shops/behind-proxy.ts'
import type { Budgets } from '../../shops/limit-public-routes.ts'
import { describeBudget } from '../../shops/public-rate-limits.ts'
import { requesterOf, unidentified } from '../../shops/requester.ts'
import { isNamed } from '../../shops/shopper.ts'
import { ConsentBody, ConsentNotice, ConsentQuery, GivenConsent } from './consent.schema.ts'

export interface ConsentParts {
  readonly consents: Consents
  readonly budgets: Budgets
  readonly erase: (customer: Customer) => Promise<unknown>
  readonly publicUrl: string
}

const tag = 'Storefront'

export const consentRoutes = [
  route({
    method: 'get',
    path: '/public/consent',
    id: 'getConsentNotice',
    tag,
    summary: 'Get the text that a visitor agrees to',
    description: `The current version of the policy of the shop, in the language of \`lang\`, else of \`Accept-Language\`, else in English,
and whether this visitor has agreed to it. ${describeBudget('consent-notice')}`,
    access: 'shop',
    query: ConsentQuery,
    answers: { 200: { description: 'The notice.', schema: ConsentNotice, next: { giveConsent: {} } } },
    errors: ['VALIDATION_FAILED', 'RATE_LIMIT_EXCEEDED'],
    guards: ({ fromShop, budgets }: BudgetedGuards) => [fromShop, budgets.limit('consent-notice')],
    handler: getNotice,
  }),
  route({
    method: 'post',
    path: '/public/consent',
    id: 'giveConsent',
    tag,
    summary: 'Record that the visitor agrees',
    description: `Stores version, time, shop and a hash of the ID of the visitor, never the ID itself. Call it after the visitor has
ticked the checkbox and before the first byte of a photo is sent. Needs \`X-Service-Visitor-Token\` or \`X-Service-Anonymous-Id\`, unless
the visitor is signed in: a network address does not identify a person. ${describeBudget('consent')} ${describeBudget('consent-ledger')}`,
    access: 'shop',
    body: { json: ConsentBody },
    answers: { 201: { description: 'The consent is recorded, by this or an earlier request.', schema: GivenConsent } },
    errors: ['VALIDATION_FAILED', 'CONSENT_OUTDATED', 'CONSENT_POLICY_UNKNOWN', 'RATE_LIMIT_EXCEEDED'],
    guards: ({ fromShop, budgets, parse }: ParsingGuards) => [
      fromShop,
      budgets.limit('consent'),
      budgets.limit('consent-ledger'),
      parse,
    ],
    handler: postConsent,
  }),
  route({
    method: 'post',
    path: '/public/withdraw-consent',
    id: 'withdrawConsent',
    tag,
    summary: 'Withdraw consent and erase the photos and results of the visitor',
    description: `Send no body. Before the response, the photos, results and share links are erased and unfinished try-ons are
cancelled. The consent ledger keeps the times at which consent was given and withdrawn; a keyed hash keeps the used part of the weekly
limit until the week ends. Idempotent. Needs a visitor, like
\`POST /public/consent\`. ${describeBudget('withdraw-consent')}`,
    access: 'shop',
    answers: {
      204: { description: 'The consent is withdrawn and the images are erased, or consent was never given.' },
    },
    errors: ['VALIDATION_FAILED', 'RATE_LIMIT_EXCEEDED', 'SERVICE_UNAVAILABLE'],
    guards: ({ fromShop, budgets }: BudgetedGuards) => [fromShop, budgets.limit('withdraw-consent')],
    handler: postWithdrawal,
  }),
]

async function getNotice(
  ctx: AppContext,
  { consents, publicUrl }: ConsentParts,
  { query: { lang } }: { readonly query: ConsentQuery },
): Promise<ConsentNotice> {
  const { shop, account, shopperId } = requesterOf(ctx)
  const current = await currentPolicy(shop, consents)
  const at = await consents.findGiven({ accountId: account.id, shopId: shop.id, shopperId }, current.version)
  return {
    required: shop.requiresConsent,
    policy: shop.domain,
    version: current.version,
    ...chooseText(current, lang === undefined ? [ctx.acceptsLanguages()].flat().map(String) : [lang]),
    givenAt: at?.toISOString() ?? null,
    privacyUrl: `${publicUrl.replace(/\/+$/, '')}/privacy/${shop.id}`,
  }
}

async function postConsent(
  ctx: AppContext,
  { consents }: ConsentParts,
  { body }: { readonly body: ConsentBody },
): Promise<GivenConsent> {
  const { shop, account, shopperId } = requesterOf(ctx)
  const { version } = body
  const policy = body.policy.toLowerCase()
  if (policy !== shop.domain) {
    throw new DrapeError('CONSENT_POLICY_UNKNOWN', `The policy ${policy} does not belong to the shop ${shop.domain}.`)
  }
  assertNamed(ctx)
  await assertCurrent({ accountId: account.id, policy }, version, consents)
  const visitor = { accountId: account.id, shopId: shop.id, shopperId }
  const at = await consents.give(visitor, { version, language: body.language.toLowerCase() })
  return { policy, version, at: at.toISOString() }
}

/** Consent for an address would be the consent of everyone behind it. */
function assertNamed({ state: { shopper } }: AppContext): void {
  if (!isNamed(shopper)) throw unidentified()
}

async function postWithdrawal(ctx: AppContext, { consents, budgets, erase }: ConsentParts): Promise<void> {
  const { account, ownerIds } = requesterOf(ctx)
  assertNamed(ctx)
  for (const externalUserId of ownerIds) {
    const customer = { accountId: account.id, externalUserId }
    // Erasures stay in the log forever: invented IDs must not fill the log.
    const known = await consents.findKnown(customer)
    if (known === 'nothing') continue
    // Requests of other visitors must not use up the limit of visitors with stored data.
    if (known === 'consent') await budgets.spend(ctx, 'erasure-log')
    await erase(customer)
  }
}
