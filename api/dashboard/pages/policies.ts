import { type Consents, createConsents, type PolicyVersion } from '../../consents/consents.store.ts'
import { currentPolicy } from '../../consents/policies.ts'
import { readPolicy } from '../../consents/read-policy.ts'
import { Type } from '../../shared/contract/schema.ts'
import type { ShopRecord, Shops } from '../../shops/shops.store.ts'
import { change } from '../forms/change.ts'
import { fieldsReader } from '../forms/form.ts'
import type { OperatorAudit } from '../operator-audit.store.ts'
import { pages } from '../page.ts'
import { findShop } from './find-shop.ts'
import { POLICY_LANGUAGES } from './policies.view.ts'

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
  change({
    route: 'POST /shops/:id/policies',
    role: 'admin',
    action: 'policy.publish',
    message: 'The version of the policy was published.',
    find: async (ctx, options: PolicyPagesOptions) => ({
      ...(await findShop(ctx, options)),
      policy: readVersion(ctx.state.form),
    }),
    run: async (within, { accountId, domain, policy }) => {
      await createConsents(within).publish({ accountId, policy: domain }, policy)
      return { version: policy.version, languages: Object.keys(policy.texts).join(', ') }
    },
  }),
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

function readVersion(form: URLSearchParams): ReturnType<typeof readPolicy> {
  const { version, ...given } = readFields(form)
  const texts = Object.fromEntries(Object.entries(given).filter(([, text]) => text !== undefined && text !== ''))
  return readPolicy({ version, texts: Object.keys(texts).length === 0 ? { en: '' } : texts })
}
