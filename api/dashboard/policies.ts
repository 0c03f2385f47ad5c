import Router from '@koa/router'
import { type Consents, createConsents, type PolicyVersion } from '../consents/consents.store.ts'
import { currentPolicy } from '../consents/policies.ts'
import { readPolicy } from '../consents/read-policy.ts'
import { DrapeError } from '../shared/contract/errors.ts'
import { Type } from '../shared/contract/schema.ts'
import type { ShopRecord, Shops } from '../shops/shops.store.ts'
import { fieldsReader } from './form.ts'
import { seeOther } from './layout.ts'
import type { OperatorAudit } from './operator-audit.store.ts'
import { POLICY_LANGUAGES } from './policies.view.ts'
import type { DashboardContext, DashboardState } from './state.ts'
import { actorOf } from './state.ts'

export interface PolicyPagesOptions {
  readonly shops: Pick<Shops, 'findById'>
  readonly audit: OperatorAudit
}

/** Current policy of a shop, and the count of visitors who agreed to it. */
export interface ShopConsents {
  readonly current: PolicyVersion
  readonly given: number
  readonly withdrawn: number
}

/** The texts that visitors of a shop agree to. */
export function policyPages(options: PolicyPagesOptions): Router<DashboardState> {
  const router = new Router<DashboardState>({ sensitive: true, strict: true })
  router.post('/shops/:id/policies', (ctx: DashboardContext) => publish(ctx, options))
  return router
}

export async function findConsents(shop: ShopRecord, consents: Consents): Promise<ShopConsents> {
  const [current, counts] = await Promise.all([currentPolicy(shop, consents), consents.count(shop.id)])
  return { current, ...counts }
}

const Text = Type.Optional(Type.String({ maxLength: 4000 }))
const readFields = fieldsReader(
  Type.Object({
    version: Type.String({ minLength: 1, maxLength: 64 }),
    ...Object.fromEntries(POLICY_LANGUAGES.map(([language]) => [language, Text])),
  }),
)

async function publish(ctx: DashboardContext, { shops, audit }: PolicyPagesOptions): Promise<void> {
  const shop = await shops.findById(ctx.params.id)
  if (shop === null) throw new DrapeError('ROUTE_NOT_FOUND', `The shop ${ctx.params.id} does not exist.`)
  const { version, ...given } = readFields(ctx.state.form)
  const texts = Object.fromEntries(Object.entries(given).filter(([, text]) => text !== undefined && text !== ''))
  const policy = readPolicy({ version, texts: Object.keys(texts).length === 0 ? { en: '' } : texts })
  const { id, accountId, domain } = shop
  await audit.record(actorOf(ctx), async (within) => {
    await createConsents(within).publish({ accountId, policy: domain }, policy)
    return {
      act: {
        action: 'policy.publish',
        object: id,
        accountId,
        details: { version, languages: Object.keys(policy.texts).join(', ') },
      },
    }
  })
  seeOther(ctx, `/shops/${id}`, 'saved')
}
