import { ClassificationsSchema } from '../../shared/generation.ts'
import { type Static, Type } from '../../shared/schema.ts'

/** An address that can be fetched at all. */
export const WebAddress = Type.String({ format: 'web-address', maxLength: 4096 })

const ImageSource = Type.Object(
  { url: Type.Optional(WebAddress), fileKey: Type.Optional(Type.String({ minLength: 1 })) },
  { additionalProperties: false, minProperties: 1, maxProperties: 1, description: 'Exactly one of url and fileKey.' },
)

const ExternalId = Type.String({ minLength: 1, maxLength: 255 })

const productFields = {
  title: Type.Optional(Type.String({ maxLength: 1000 })),
  description: Type.Optional(Type.String({ maxLength: 20_000 })),
  images: Type.Optional(
    Type.Array(Type.Object({ source: ImageSource, classifications: Type.Optional(ClassificationsSchema) }), {
      maxItems: 10,
    }),
  ),
  validForDays: Type.Optional(Type.Union([Type.Integer({ minimum: 1, maximum: 365 }), Type.Null()])),
  metadata: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
}

/** A product in a try-on call. */
export const ProductBody = Type.Object({ externalId: Type.Optional(ExternalId), ...productFields })
export type ProductBody = Static<typeof ProductBody>

/** A product of the catalog. */
export const CatalogProductBody = Type.Object({ externalId: ExternalId, ...productFields })

export const ProductListQuery = Type.Object({
  limit: Type.Integer({ minimum: 1, maximum: 200, default: 50 }),
  cursor: Type.Optional(Type.String()),
})
