import type { Consents } from '../../consents/consents.store.ts'
import { DrapeError } from '../../shared/contract/errors.ts'
import { Type } from '../../shared/contract/schema.ts'
import type { AddressRule } from '../../shared/network/addresses.ts'
import { adminUrlProblem } from '../../shops/admin-url.ts'
import type { RefusedRequest } from '../../shops/refused-requests.ts'
import { HOST_NAME, SHOP_SETTINGS } from '../../shops/shop-settings.ts'
import {
  createShops,
  type EditedShop,
  generateShopSecret,
  type ListedShop,
  SHOP_PLATFORMS,
  type ShopRecord,
  type Shops,
} from '../../shops/shops.store.ts'
import type { VisitorAddresses } from '../../shops/visitor-addresses.store.ts'
import { type AccountSearch, findAccountField, readAccount } from '../forms/account-field.ts'
import { change } from '../forms/change.ts'
import { keepConflict } from '../forms/conflict.ts'
import { fieldsReader, queryOf } from '../forms/form.ts'
import { permittedLink } from '../forms/form-elements.ts'
import { labelsOf, presentSettings, settingsReader } from '../forms/setting-fields.ts'
import { seeOther, showPage } from '../html/layout.ts'
import { listPages } from '../html/list.ts'
import type { OpenList } from '../html/list.view.ts'
import type { OperatorAudit } from '../operator-audit.store.ts'
import { anyOwner, listed, pages } from '../page.ts'
import { actorOf, type DashboardContext, type SignedInContext } from '../state.ts'
import { STATES } from './accounts.view.ts'
import { type Engines, findEngineChoices } from './engine-names.ts'
import { findShop } from './find-shop.ts'
import { findConsents } from './policies.ts'
import { presentNewShop, presentShop, presentShopList, presentShopSecret, SHOP_COLUMNS } from './shops.view.ts'

export interface ShopPagesOptions {
  readonly accounts: AccountSearch
  readonly shops: Shops
  readonly visitors: Pick<VisitorAddresses, 'countToday'>
  /** IP addresses to which the token of a shop may be sent without TLS. */
  readonly isPlainAllowed: AddressRule
  readonly audit: OperatorAudit
  readonly engines: Engines
  readonly consents: Consents
  /** Refused requests of a shop; with null, those that name no known shop. */
  readonly listRefused: (shop: Pick<ShopRecord, 'id'> | null) => Promise<readonly RefusedRequest[]>
}

/** Shops, and the secrets with which their proxies sign. */
export const shopPages = pages<ShopPagesOptions>([
  ...listPages<ShopPagesOptions, ListedShop>({
    path: '/shops',
    owns: anyOwner,
    menu: 'Shops',
    columns: SHOP_COLUMNS,
    filters: [
      { of: 'platform', label: 'Platform', options: SHOP_PLATFORMS.map((name) => [name, name] as const) },
      { of: 'isActive', label: 'State', options: STATES },
    ],
    open: openShops,
  }),
  { route: 'GET /shops/new', role: 'admin', run: showNewShop },
  {
    route: 'POST /shops',
    role: 'admin',
    form: '/shops/new',
    done: { 'shop.create': { message: 'The shop was created.', at: '/shops/:object', showsSecret: true } },
    run: createShop,
  },
  { route: 'GET /shops/:id', role: 'viewer', owns: listed(({ shops }) => shops.listing), run: showShop },
  {
    route: 'POST /shops/:id',
    role: 'admin',
    done: { 'shop.update': 'The settings of the shop were saved.' },
    run: changeShop,
  },
  {
    route: 'POST /shops/:id/secrets',
    role: 'admin',
    done: { 'shop.secret.add': { message: 'The secret was added.', showsSecret: true } },
    run: addSecret,
  },
  change({
    route: 'POST /shops/:id/secrets/remove',
    role: 'admin',
    action: 'shop.secret.remove',
    message: 'The older secret was removed.',
    find: (ctx, options: ShopPagesOptions) => findShop(ctx, options),
    run: async (within, { id }) => {
      await createShops(within).removeSecret(id, null)
    },
  }),
])

async function openShops(ctx: SignedInContext, options: ShopPagesOptions): Promise<OpenList<ListedShop>> {
  const { forms, operator } = ctx.state
  // Shops that are unknown belong to no account.
  const refused = operator.accountId === null ? await options.listRefused(null) : []
  return {
    ...presentShopList(refused, forms),
    listing: options.shops.listing,
    accounts: options.accounts,
    actions: permittedLink({ forms, path: '/shops/new', className: 'button' }, 'New shop'),
  }
}

async function showNewShop(ctx: DashboardContext, { engines, accounts }: ShopPagesOptions): Promise<void> {
  const account = await findAccountField(accounts, queryOf(ctx).get('account'))
  const choices = await findEngineChoices(engines)
  showPage(ctx, { title: 'New shop', body: presentNewShop(account, choices, ctx.state.forms) })
}

const Secret = Type.Optional(Type.String({ minLength: 16, maxLength: 500 }))

const readNew = settingsReader(
  SHOP_SETTINGS,
  {
    account: Type.String({ maxLength: 300 }),
    platform: Type.Enum([...SHOP_PLATFORMS]),
    domain: Type.String({ pattern: HOST_NAME, maxLength: 253 }),
    secret: Secret,
  },
  { domain: 'Enter a bare domain such as shop.example.' },
)

async function createShop(ctx: DashboardContext, options: ShopPagesOptions): Promise<void> {
  const { audit, engines, isPlainAllowed } = options
  const { settings, others } = await readNew(ctx.state.form, { engines })
  const { account, platform, domain, secret } = others
  const accountId = await readAccount(options.accounts, account)
  assertAdminUrl(settings.adminUrl, isPlainAllowed)
  if (platform === 'shopify' && secret === undefined) {
    const message = 'must be the secret that Shopify issued for the app'
    throw new DrapeError('VALIDATION_FAILED', 'The shop is not valid.', { details: [{ path: 'secret', message }] })
  }
  const isMade = platform === 'plugin' && secret === undefined
  const live = isMade ? generateShopSecret() : secret
  const made = await audit.record(actorOf(ctx), async (within) => {
    const { id } = await createShops(within).insert({ accountId, platform, domain, secret: live, ...settings })
    return { id, act: { action: 'shop.create', object: id, accountId, details: { platform, domain } } }
  })
  if (made === null) return
  if (!isMade || live === undefined) return seeOther(ctx, `/shops/${made.id}`, 'shop.create')
  showPage(ctx, {
    title: 'Shop created',
    body: presentShopSecret({ id: made.id, secret: live, nextSteps: ctx.state.nextSteps }),
  })
}

/** Throws `VALIDATION_FAILED` for an address to which no token may be sent. */
function assertAdminUrl(adminUrl: string | null | undefined, isPlainAllowed: AddressRule): void {
  const message = adminUrl ? adminUrlProblem(adminUrl, isPlainAllowed) : null
  if (message === null) return
  throw new DrapeError('VALIDATION_FAILED', 'The shop is not valid.', { details: [{ path: 'adminUrl', message }] })
}

async function findEdition(ctx: DashboardContext, { shops }: ShopPagesOptions): Promise<EditedShop> {
  const shop = await shops.findEdition(ctx.params.id)
  if (shop === null) throw new DrapeError('ROUTE_NOT_FOUND', `The shop ${ctx.params.id} does not exist.`)
  return shop
}

async function showShop(ctx: DashboardContext, options: ShopPagesOptions): Promise<void> {
  const shop = await findEdition(ctx, options)
  const [names, spent, engines, refused, consents] = await Promise.all([
    options.accounts.findNames([shop.accountId]),
    options.visitors.countToday(shop.id),
    findEngineChoices(options.engines, [shop.defaultEngine]),
    options.listRefused(shop),
    findConsents(shop, options.consents),
  ])
  const accountName = names.get(shop.accountId)
  const body = presentShop(shop, { accountName, engines, forms: ctx.state.forms, spent, refused, consents })
  const { forms } = ctx.state
  const actions = permittedLink({ forms, path: `/shops/${shop.id}/analytics`, className: 'button' }, 'Analytics')
  showPage(ctx, { title: shop.name ?? shop.domain, actions, body })
}

const readSettings = settingsReader(SHOP_SETTINGS, {
  adminToken: Type.Optional(Type.String()),
  edition: Type.String({ minLength: 1 }),
})

async function changeShop(ctx: DashboardContext, options: ShopPagesOptions): Promise<void> {
  const { id, accountId, ...before } = await findShop(ctx, options)
  const { settings: changes, others } = await readSettings(ctx.state.form, { engines: options.engines, before })
  const { adminToken, edition } = others
  assertAdminUrl(changes.adminUrl, options.isPlainAllowed)
  const changed = await options.audit.record(actorOf(ctx), async (within) => {
    // An empty token field keeps the token, unless the address changes: the token is never shown.
    const shop = await createShops(within).updateEdition(id, { ...changes, adminToken }, edition)
    const isRemoved = before.adminToken !== null && shop?.adminToken === null
    const token = adminToken !== undefined ? 'another one' : isRemoved ? 'removed' : null
    const details = presentSettings({ ...changes, ...(token !== null && { adminToken: token }) })
    return shop && { act: { action: 'shop.update', object: id, accountId, details } }
  })
  if (changed === null) {
    const now = { ...(await findShop(ctx, options)) }
    await keepConflict(ctx, {
      what: 'shop',
      id,
      sent: changes,
      now,
      names: labelsOf(SHOP_SETTINGS),
      audit: options.audit,
    })
    return showShop(ctx, options)
  }
  seeOther(ctx, `/shops/${id}`, 'shop.update')
}

const readSecret = fieldsReader(Type.Object({ secret: Secret }))

async function addSecret(ctx: DashboardContext, options: ShopPagesOptions): Promise<void> {
  const { id, accountId } = await findShop(ctx, options)
  const { secret } = readSecret(ctx.state.form)
  const added = secret ?? generateShopSecret()
  await options.audit.record(actorOf(ctx), async (within) => {
    await createShops(within).addSecret(id, added)
    return { act: { action: 'shop.secret.add', object: id, accountId } }
  })
  if (secret !== undefined) return seeOther(ctx, `/shops/${id}`, 'shop.secret.add')
  showPage(ctx, {
    title: 'Secret created',
    body: presentShopSecret({ id, secret: added, nextSteps: ctx.state.nextSteps }),
  })
}
