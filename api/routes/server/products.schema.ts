import { ClassificationsSchema, DetectedSchema } from '../../shared/generation.ts'
import { Nullable, type Static, Type } from '../../shared/schema.ts'
import { TIME } from './statistics-window.ts'

/** An address that can be fetched at all. */
export const WebAddress = Type.String({
  format: 'web-address',
  maxLength: 4096,
  examples: ['https://shop.example/1.jpg'],
})

export const FileKey = Type.String({
  minLength: 1,
  description: 'The name of a file field of the multipart body.',
})

const ImageSource = Type.Object(
  { url: Type.Optional(WebAddress), fileKey: Type.Optional(FileKey) },
  { additionalProperties: false, minProperties: 1, maxProperties: 1, description: 'Exactly one of url and fileKey.' },
)

/** One image of a product. */
export const ProductImageBody = Type.Object({
  source: ImageSource,
  classifications: Type.Optional(ClassificationsSchema),
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
      description: 'Helps to tell what kind of garment it is.',
      examples: ['T-shirt'],
    }),
  ),
  description: Type.Optional(Type.String({ maxLength: 20_000 })),
  images: Type.Optional(
    Type.Array(ProductImageBody, {
      minItems: 1,
      maxItems: 10,
      description: 'Needed for a new product; takes the place of all images of a known one.',
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
      description:
        'Stored and returned as it is. Whole numbers beyond 2^53 are rounded, as JavaScript does: send them as text.',
      examples: [{ collection: 'summer' }],
    }),
  ),
}

/** A product in a try-on call. */
export const ProductBody = Type.Object({ externalId: Type.Optional(ExternalId), ...productFields })
export type ProductBody = Static<typeof ProductBody>

/** A product of the catalog. */
export const CatalogProductBody = Type.Object({ externalId: ExternalId, ...productFields })

export const ProductListQuery = Type.Object({
  limit: Type.Integer({ minimum: 1, maximum: 200, default: 50 }),
  cursor: Type.Optional(Type.String({ description: 'The nextCursor of the page before.' })),
})

/** Read by `parseWindow`. */
export const StatisticsQuery = Type.Object({
  from: Type.Optional(
    Type.String({
      pattern: TIME.source,
      description:
        'Counts generations created then or later: ISO 8601, UTC when there is no offset; a date is its first moment.',
      examples: ['2026-05-12T00:00:00Z'],
    }),
  ),
  to: Type.Optional(
    Type.String({
      pattern: TIME.source,
      description: 'Counts generations created then or earlier; a date is its last moment.',
      examples: ['2026-05-13'],
    }),
  ),
})

const Time = Type.String({ format: 'date-time' })

/** A product as callers see it. */
export const Product = Type.Object({
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
    { description: 'With what was sent stands what a look at the image has shown, once a try-on has used it.' },
  ),
  metadata: Type.Unknown({ description: 'The object that was sent, or null.' }),
  validForDays: Nullable(Type.Integer()),
  lastUsedAt: Nullable(Time),
  expiresAt: Nullable(Time),
  createdAt: Time,
  updatedAt: Time,
})
export type Product = Static<typeof Product>

export const ProductList = Type.Object({
  items: Type.Array(Product),
  nextCursor: Nullable(Type.String()),
  hasMore: Type.Boolean(),
  count: Type.Integer({ minimum: 0, description: 'Items on this page.' }),
})
export type ProductList = Static<typeof ProductList>

export const Deleted = Type.Object({ deleted: Type.Boolean() })

const Count = Type.Integer({ minimum: 0 })

/** Eventually consistent: a generation may take seconds to be counted. */
export const ProductStatistics = Type.Object({
  totalGenerations: Count,
  completedGenerations: Count,
  failedGenerations: Count,
  avgGenerationTimeMs: Type.Integer({ minimum: 0, description: 'Mean of completed generations, 0 without any.' }),
})
export type ProductStatistics = Static<typeof ProductStatistics>
