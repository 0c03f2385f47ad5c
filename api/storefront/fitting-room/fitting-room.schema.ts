import { type Static, Type } from '../../shared/contract/schema.ts'
import { MAX_LAYERS } from '../../shared/generations/generation.ts'

const gid = (type: string, description: string) =>
  Type.String({
    pattern: `^gid://[A-Za-z0-9][A-Za-z0-9-]{0,62}/${type}/[\\w.~-]{1,100}$`,
    description,
    examples: [`gid://shopify/${type}/1234567890`],
  })

export const FittingRoomBody = Type.Object({
  userImageId: Type.String({ minLength: 1, maxLength: 255, description: 'The fileId of an upload.' }),
  productId: gid('Product', 'Global id of the product on the shop’s platform.'),
  variantId: Type.Optional(gid('ProductVariant', 'Variant whose images are used. Default: the default variant.')),
  withProductIds: Type.Optional(
    Type.Array(gid('Product', 'Global id of a product that is worn with it.'), {
      minItems: 1,
      maxItems: MAX_LAYERS - 1,
      description:
        'Makes an outfit: the image shows these products too. Only for shops whose check-credits has outfits.',
    }),
  ),
})

export type FittingRoomBody = Static<typeof FittingRoomBody>

export const FittingRoomJob = Type.Object({
  jobId: Type.String({ description: 'The generationId, for the generation’s status and events.' }),
  message: Type.String({ description: 'Human-readable message.' }),
})
export type FittingRoomJob = Static<typeof FittingRoomJob>

/** Response when a shopper's request is blocked for one of these reasons. */
const Blocked = <const C extends string>(codes: readonly C[]) =>
  Type.Object({
    jobId: Type.Literal(''),
    message: Type.String({ description: 'Human-readable message.' }),
    code: Type.Enum([...codes], { description: 'Stable code; branch on it.' }),
  })
export const UnpaidJob = Blocked(['QUOTA_EXCEEDED', 'BILLING_NOT_ALLOWED'])
export const EarlyJob = Type.Object({
  ...Blocked(['RATE_LIMIT_EXCEEDED']).properties,
  period: Type.Optional(
    Type.Enum(['day', 'week'], { description: 'Period of the exhausted limit; absent for limits of a few minutes.' }),
  ),
})
export type BlockedJob = Static<typeof UnpaidJob> | Static<typeof EarlyJob>
