import { type Static, Type } from '../../shared/schema.ts'

const gid = (type: string, description: string) =>
  Type.String({
    pattern: `^gid://[A-Za-z0-9][A-Za-z0-9-]{0,62}/${type}/[\\w.~-]{1,100}$`,
    description,
    examples: [`gid://shopify/${type}/1234567890`],
  })

export const FittingRoomBody = Type.Object({
  userImageId: Type.String({ minLength: 1, maxLength: 255, description: 'The fileId of an upload.' }),
  productId: gid('Product', 'The global id that the product has on the shop’s platform.'),
  variantId: Type.Optional(
    gid('ProductVariant', 'The variant whose pictures are used; the default one when it is not sent.'),
  ),
})

export type FittingRoomBody = Static<typeof FittingRoomBody>

export const FittingRoomJob = Type.Object({
  jobId: Type.String({ description: 'The generationId, for the generation’s status and events.' }),
  message: Type.String({ description: 'For people.' }),
})
export type FittingRoomJob = Static<typeof FittingRoomJob>

/** The answer when a shopper's wish is blocked, for one of these reasons. */
const Blocked = <const C extends string>(codes: readonly C[]) =>
  Type.Object({
    jobId: Type.Literal(''),
    message: Type.String({ description: 'For people.' }),
    code: Type.Enum([...codes], { description: 'Stable; branch on this.' }),
  })
export const UnpaidJob = Blocked(['QUOTA_EXCEEDED', 'BILLING_NOT_ALLOWED'])
export const EarlyJob = Type.Object({
  ...Blocked(['RATE_LIMIT_EXCEEDED']).properties,
  period: Type.Optional(
    Type.Enum(['day', 'week'], { description: 'Of the limit that is used up; missing for one of some minutes.' }),
  ),
})
export type BlockedJob = Static<typeof UnpaidJob> | Static<typeof EarlyJob>
