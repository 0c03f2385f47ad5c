import { type Static, Type } from '../../shared/contract/schema.ts'

export const CreditCheck = Type.Object({
  allowed: Type.Boolean({ description: 'Whether a generation would be accepted; up to 2 minutes old.' }),
  outfits: Type.Optional(
    Type.Boolean({
      description: 'Whether fitting-room accepts `withProductIds`: the default engine of the shop renders outfits.',
    }),
  ),
  holdout: Type.Optional(
    Type.Boolean({
      description:
        'Whether this visitor (`X-Service-Anonymous-Id`) shall see no button, so that the shop can compare sales. Absent when the shop has no holdout.',
    }),
  ),
})
export type CreditCheck = Static<typeof CreditCheck>
