import { type Consents, createConsents, type PolicyVersion } from '../consents/consents.store.ts'
import { currentPolicy } from '../consents/policies.ts'
import { readPolicy } from '../consents/read-policy.ts'
import { DrapeError } from '../shared/contract/errors.ts'
import { Type } from '../shared/contract/schema.ts'
import type { ShopRecord, Shops } from '../shops/shops.store.ts'
import { fieldsReader } from './form.ts'
import { seeOther } from './layout.ts'
import type { OperatorAudit } from './operator-audit.store.ts'
import { pages } from './pages.ts'
import { POLICY_LANGUAGES } from './policies.view.ts'
import type { DashboardContext } from './state.ts'
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
export const policyPages = pages<PolicyPagesOptions>([
  {
    route: 'POST /shops/:id/policies',
    role: 'admin',
    form: '/shops/:id',
    done: { 'policy.publish': { message: 'The version of the policy was published.', at: '/shops/:object' } },
    run: publish,
  },
])

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
