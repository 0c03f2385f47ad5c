import { ENGINES, type EngineName, FORMATS, MODES } from '../../shared/generation.ts'
import { type Static, Type } from '../../shared/schema.ts'
import { ProductBody, WebAddress } from './products.schema.ts'

const PersonSource = Type.Object(
  {
    id: Type.Optional(Type.String({ minLength: 1 })),
    url: Type.Optional(WebAddress),
    fileKey: Type.Optional(Type.String({ minLength: 1 })),
  },
  {
    additionalProperties: false,
    minProperties: 1,
    maxProperties: 1,
    description: 'Exactly one of id, url and fileKey.',
  },
)

export const TryOnBody = Type.Object({
  products: Type.Array(ProductBody, { minItems: 1, maxItems: 1 }),
  person: Type.Object({ image: Type.Object({ source: PersonSource }) }),
  externalUserId: Type.Optional(Type.String({ minLength: 1, maxLength: 255 })),
  output: Type.Object(
    {
      watermark: Type.Boolean({ default: true }),
      keepForDays: Type.Optional(Type.Enum([1, 3, 7])),
      deadlineSeconds: Type.Integer({ minimum: 5, maximum: 3600, default: 300 }),
      seed: Type.Integer({ minimum: 0, maximum: 2 ** 31 - 1, default: 42 }),
      mode: Type.Enum([...MODES], { default: 'balanced' }),
      engine: Type.Optional(Type.Enum(Object.keys(ENGINES) as EngineName[])),
      format: Type.Enum([...FORMATS], { default: 'jpeg' }),
      fullResolution: Type.Boolean({ default: false }),
    },
    { default: {} },
  ),
})
export type TryOnBody = Static<typeof TryOnBody>
