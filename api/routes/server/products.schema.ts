import { named } from '../../openapi/named-schema.ts'
import { ClassificationsSchema, DetectedSchema } from '../../shared/generation.ts'
import { ISO_TIME } from '../../shared/iso-time.ts'
import { Nullable, type Static, Type } from '../../shared/schema.ts'

/** An address that can be fetched at all. */
export const WebAddress = Type.String({
  format: 'web-address',
  maxLength: 4096,
  examples: ['https://shop.example/1.jpg'],
})

/** An address, or the name that the service gave to bytes that were sent. */
const ImageAddress = Type.String({
  format: 'image-address',
  maxLength: 4096,
  description: 'An http or https address, or the sourceUrl (upload://…) of a stored image of the account.',
  examples: ['https://shop.example/1.jpg'],
})

/** Of a product. */
export const MAX_IMAGES = 50

export const FileKey = Type.String({
  minLength: 1,
  description: 'The name of a file field of the multipart body.',
})

const ImageSource = Type.Object(
  { url: Type.Optional(ImageAddress), fileKey: Type.Optional(FileKey) },
  { additionalProperties: false, minProperties: 1, maxProperties: 1, description: 'Exactly one of url and fileKey.' },
)

/** One image of a product. */
export const ProductImageBody = Type.Object({
  source: ImageSource,
  classifications: Type.Optional(
    Type.Record(Type.String(), Type.Unknown(), {
      ...ClassificationsSchema,
      maxJsonKilobytes: 4,
    }),
  ),
})

const ExternalId = Type.String({
  minLength: 1,
  maxLength: 255,
  description: 'Your id of the product. Ids that start with _anon_ are given by the server.',
  examples: ['shirt-17'],
})

const productFields = {
  title: Type.Optional(
    Type.String({
      maxLength: 1000,
      description: 'Helps to recognise the kind of garment.',
      examples: ['T-shirt'],
    }),
  ),
  description: Type.Optional(Type.String({ maxLength: 20_000 })),
  images: Type.Optional(
    Type.Array(ProductImageBody, {
      minItems: 1,
      maxItems: MAX_IMAGES,
      description: 'Needed for a new product; replaces all images of a known one. The order is kept.',
    }),
  ),
  validForDays: Type.Optional(
    Nullable(
      Type.Integer({
        minimum: 1,
        maximum: 365,
        description: 'Days from use to use that the product is kept for; null is for ever.',
      }),
    ),
  ),
  metadata: Type.Optional(
    Type.Record(Type.String(), Type.Unknown(), {
      maxJsonKilobytes: 64,
      description:
        'Stored and returned as sent: the order of members is kept, and numbers of any length. At most 64 KB as JSON.',
      examples: [{ collection: 'summer' }],
    }),
  ),
}

/** A product in a try-on call. */
export const ProductBody = Type.Object({ externalId: Type.Optional(ExternalId), ...productFields })
export type ProductBody = Static<typeof ProductBody>

/** A product of the catalog. */
export const CatalogProductBody = named('ProductInput', Type.Object({ externalId: ExternalId, ...productFields }))
export type CatalogProductBody = Static<typeof CatalogProductBody>

export const ProductListQuery = Type.Object({
  limit: Type.Integer({
    minimum: 1,
    maximum: 200,
    default: 50,
    description: 'Products of a page. A page of more than 2 MB has fewer.',
  }),
  cursor: Type.Optional(Type.String({ description: 'The nextCursor of the page before.' })),
})
export type ProductListQuery = Static<typeof ProductListQuery>

/** Read by `parseWindow`. */
export const StatisticsQuery = Type.Object({
  from: Type.Optional(
    Type.String({
      pattern: ISO_TIME.source,
      description:
        'Counts generations created then or later: ISO 8601, UTC when there is no offset; a date is its first moment.',
      examples: ['2026-05-12T00:00:00Z'],
    }),
  ),
  to: Type.Optional(
    Type.String({
      pattern: ISO_TIME.source,
      description: 'Counts generations created then or earlier; a date is its last moment.',
      examples: ['2026-05-13'],
    }),
  ),
})

const Time = Type.String({ format: 'date-time' })

/** A product as callers see it. */
export const Product = named(
  'Product',
  Type.Object({
    externalId: Type.String(),
    title: Nullable(Type.String()),
    description: Nullable(Type.String()),
    images: Type.Array(
      Type.Object({
        sourceUrl: Type.String({ description: 'Where the image came from; upload://… names bytes that were sent.' }),
        order: Type.Integer({ minimum: 0, description: 'The place in the list that was sent.' }),
        classifications: Nullable(ClassificationsSchema),
        detected: Type.Optional(DetectedSchema),
      }),
      { description: 'What was sent, and once a try-on has used the image also what was recognised in it.' },
    ),
    metadata: Type.Unknown({ description: 'The object that was sent, or null.' }),
    validForDays: Nullable(Type.Integer()),
    lastUsedAt: Nullable(Time),
    expiresAt: Nullable(Time),
    createdAt: Time,
    updatedAt: Time,
  }),
)
export type Product = Static<typeof Product>

export const ProductList = named(
  'ProductList',
  Type.Object({
    items: Type.Array(Product),
    nextCursor: Nullable(Type.String()),
    hasMore: Type.Boolean(),
    count: Type.Integer({ minimum: 0, description: 'Items on this page.' }),
  }),
)
export type ProductList = Static<typeof ProductList>

export const Deleted = Type.Object({ deleted: Type.Boolean() })
export type Deleted = Static<typeof Deleted>

const Count = Type.Integer({ minimum: 0 })

/** Eventually consistent: a generation may take seconds to be counted. */
export const ProductStatistics = named(
  'ProductStatistics',
  Type.Object({
    totalGenerations: Count,
    completedGenerations: Count,
    failedGenerations: Count,
    avgGenerationTimeMs: Type.Integer({ minimum: 0, description: 'Mean of completed generations, 0 without any.' }),
  }),
)
export type ProductStatistics = Static<typeof ProductStatistics>
