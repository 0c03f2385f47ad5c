import type { AccountRecord, Accounts } from '../../accounts/accounts.store.ts'
import type { Consents } from '../../consents/consents.store.ts'
import { chooseText, currentPolicy } from '../../consents/policies.ts'
import type { EngineChoice } from '../../generations/engines/choice.ts'
import type { EngineDirectory } from '../../generations/engines/directory.ts'
import { pageHeaders } from '../../http/answers/public-page.ts'
import { route } from '../../http/route.ts'
import type { AppContext } from '../../http/state.ts'
import { Type } from '../../shared/contract/schema.ts'
import type { Budgets } from '../../shops/limit-public-routes.ts'
import { chooseLanguage, pageLanguages } from '../../shops/page-language.ts'
import { describeBudget } from '../../shops/public-rate-limits.ts'
import type { ShopRecord, Shops } from '../../shops/shops.store.ts'
import { ConsentQuery } from './consent.schema.ts'
import { PRIVACY_TEXTS, presentPrivacy, presentUnknownShop, type ShopPrivacyFacts } from './privacy.view.ts'

export interface PrivacyPageParts {
  readonly shops: Pick<Shops, 'findById'>
  readonly accounts: Pick<Accounts, 'find'>
  readonly consents: Consents
  readonly defaultEngineOf: EngineChoice['defaultOf']
  readonly engines: Pick<EngineDirectory, 'find'>
  /** Settings of the installation that apply to all shops. */
  readonly installation: {
    readonly processor: string
    readonly leadDays: number
    readonly eventDays: number
    readonly analyticsUrl: string
  }
}

interface PrivacyPageGuards {
  readonly budgets: Budgets
}

export const privacyRoutes = [
  route({
    method: 'get',
    path: '/privacy/{shop}',
    id: 'getPrivacyPage',
    tag: 'Storefront',
    summary: 'Open the privacy page of a shop',
    description: `Describes the processing of photos of visitors: retention, engine, processor, contact and the policy, from the settings that apply
now. In the language of \`lang\`, else of \`Accept-Language\`. ${describeBudget('privacy-page')}`,
    parameters: { shop: 'ID of the shop, from `privacyUrl` of `GET /public/consent`.' },
    query: ConsentQuery,
    access: 'open',
    answers: { 200: { description: 'The page.', schema: Type.String(), contentType: 'text/html' } },
    pages: [404],
    errors: ['VALIDATION_FAILED', 'ROUTE_NOT_FOUND', 'RATE_LIMIT_EXCEEDED', 'SERVICE_UNAVAILABLE'],
    guards: ({ budgets }: PrivacyPageGuards) => [setHeaders, budgets.limit('privacy-page')],
    handler: getPage,
  }),
]

/** Found by ID alone: a page by domain would reveal which shops exist. */
async function getPage(
  ctx: AppContext,
  parts: PrivacyPageParts,
  { params }: { readonly params: { readonly shop: string } },
): Promise<void> {
  const languages = pageLanguages(ctx)
  const language = chooseLanguage(languages, PRIVACY_TEXTS)
  const shop = await parts.shops.findById(params.shop)
  const account = shop && (await parts.accounts.find(shop.accountId))
  ctx.type = 'html'
  if (shop === null || account === null) {
    ctx.status = 404
    ctx.body = presentUnknownShop(language)
    return
  }
  ctx.body = presentPrivacy(await findFacts({ shop, account, languages }, parts), language)
}

async function findFacts(
  { shop, account, languages }: { shop: ShopRecord; account: AccountRecord; languages: readonly string[] },
  { consents, defaultEngineOf, engines, installation }: PrivacyPageParts,
): Promise<ShopPrivacyFacts> {
  const { resultDays, fallbackEngines = [], safetyLevel = 'off' } = account.settings
  const names = new Set([await defaultEngineOf({ shop, account }), ...fallbackEngines])
  const { processor, leadDays, eventDays, analyticsUrl } = installation
  const policy = await currentPolicy(shop, consents)
  return {
    shop: { name: shop.name ?? shop.domain, domain: shop.domain, contact: shop.privacyContact },
    processor,
    engines: await Promise.all(
      [...names].map(async (name) => ({ name, kind: (await engines.find(name))?.kind ?? null })),
    ),
    safetyLevel: shop.safetyLevel ?? safetyLevel,
    days: {
      photos: account.retentionDays,
      results: resultDays ?? account.retentionDays,
      emails: leadDays,
      events: eventDays,
    },
    analytics: analyticsUrl === '' ? null : new URL(analyticsUrl).host,
    policy: shop.requiresConsent ? { version: policy.version, ...chooseText(policy, languages) } : null,
  }
}

/** The page runs no scripts and loads nothing. */
const setHeaders = pageHeaders({ vary: 'Accept-Language', cacheControl: 'no-cache', formAction: "'none'" })
