import { named } from '../http/openapi/named-schema.ts'
import { type Static, Type } from '../shared/contract/schema.ts'
import { OUTFIT_PRICINGS } from './account-settings.ts'

const creditBalance = Type.Integer({ minimum: 0, description: 'Remaining credits.' })

export const Account = named(
  'Account',
  Type.Object({
    id: Type.String(),
    mode: Type.Enum(['live', 'test'], {
      description: 'Mode of the key: test for keys sk_test_…, whose account has a separate id.',
    }),
    name: Type.String(),
    email: Type.Optional(Type.String()),
    creditBalance,
    isActive: Type.Boolean(),
    outfitPricing: Type.Enum([...OUTFIT_PRICINGS], {
      description: 'Price of an outfit. layer: that of a try-on for each product; outfit: that of one.',
    }),
    retentionDays: Type.Integer({ description: 'Default retention of images in days: 1 to 90.' }),
    createdAt: Type.String({ format: 'date-time' }),
  }),
)
export type Account = Static<typeof Account>

export const Credits = named('Credits', Type.Object({ creditBalance }))
export type Credits = Static<typeof Credits>
