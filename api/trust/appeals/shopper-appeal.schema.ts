import { named } from '../../http/openapi/named-schema.ts'
import { APPEALABLE_CODES } from '../../shared/contract/error-codes.ts'
import { TRY_ON_IMAGES } from '../../shared/contract/errors.ts'
import { Nullable, type Static, Type } from '../../shared/contract/schema.ts'
import { REVIEW_STATES } from './safety-reviews.store.ts'

export const AppealQuery = Type.Object({
  lang: Type.Optional(
    Type.String({
      maxLength: 100,
      description: 'Language of the page. Default: Accept-Language; without texts: English.',
    }),
  ),
})

export const AppealFields = Type.Object({
  reason: Type.String({
    minLength: 3,
    maxLength: 1000,
    pattern: '\\S',
    description: 'Why the refusal is wrong.',
  }),
})
export type AppealFields = Static<typeof AppealFields>

export const ShopperAppeal = named(
  'ShopperAppeal',
  Type.Object({
    code: Type.Enum([...APPEALABLE_CODES], { description: 'Error code of the refused try-on.' }),
    image: Type.Enum([...TRY_ON_IMAGES, 'result'], { description: 'The refused image.' }),
    state: Nullable(
      Type.Enum([...REVIEW_STATES], {
        description: 'Null: no review was asked for. OPEN: no operator has decided yet.',
      }),
    ),
    reason: Nullable(Type.String({ description: 'The text that was sent with this reference.' })),
    answer: Nullable(
      Type.String({
        description: 'Answer of the operator to this text; null before the decision, and to an appeal of the account.',
      }),
    ),
    createdAt: Nullable(Type.String({ format: 'date-time' })),
    decidedAt: Nullable(Type.String({ format: 'date-time' })),
  }),
)
export type ShopperAppeal = Static<typeof ShopperAppeal>
