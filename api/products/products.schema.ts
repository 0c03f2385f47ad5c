import { named } from '../http/openapi/named-schema.ts'
import { CALLER_ID_RULES } from '../photos/images.schema.ts'
import { ISO_TIME } from '../shared/contract/iso-time.ts'
import { Nullable, type Static, Type } from '../shared/contract/schema.ts'
import { ClassificationsSchema, DetectedSchema } from '../shared/generations/generation.ts'

/** An http or https URL. */
export const WebAddress = Type.String({
  format: 'web-address',
  maxLength: 4096,
  examples: ['https://shop.example/1.jpg'],
})

/** A URL, or the name that the service assigned to stored bytes. */
const ImageAddress = Type.String({
  format: 'image-address',
  maxLength: 4096,
  description: 'An http or https address, or the sourceUrl (upload://…) of a stored image of the account.',
  examples: ['https://shop.example/1.jpg'],
})

/** Maximum number of images of a product. */
export const MAX_IMAGES = 50

export const FileKey = Type.String({
  minLength: 1,
  description: 'The name of a file field of the multipart body.',
})

const ImageSource = Type.Object(
  { url: Type.Optional(ImageAddress), fileKey: Type.Optional(FileKey) },
  { additionalProperties: false, minProperties: 1, maxProperties: 1, description: 'Exactly one of url and fileKey.' },
)

/** An image of a product. */
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
  ...CALLER_ID_RULES,
  description: 'Your id of the product. The server assigns ids that start with _anon_.',
  examples: ['shirt-17'],
})

const productFields = {
  title: Type.Optional(
    Type.String({
      maxLength: 1000,
      description: 'Title of the product, used to recognise the garment category.',
      examples: ['T-shirt'],
    }),
  ),
  description: Type.Optional(Type.String({ maxLength: 20_000 })),
  images: Type.Optional(
    Type.Array(ProductImageBody, {
      minItems: 1,
      maxItems: MAX_IMAGES,
      description: 'Images in order. Required for a new product; replaces all images of an existing product.',
    }),
  ),
  validForDays: Type.Optional(
    Nullable(
      Type.Integer({
        minimum: 1,
        maximum: 365,
        description: 'Days after its last use at which the product expires; null: never.',
      }),
    ),
  ),
  metadata: Type.Optional(
    Type.Record(Type.String(), Type.Unknown(), {
      maxJsonKilobytes: 64,
      description:
        'Stored and returned unchanged, including the order of members and numbers of any length. At most 64 KB as JSON.',
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
    description: 'Maximum number of products per page. Pages are limited to about 2 MB.',
  }),
  cursor: Type.Optional(Type.String({ description: 'The nextCursor of the previous page.' })),
})
export type ProductListQuery = Static<typeof ProductListQuery>

/** Parsed by `parseWindow`. */
export const StatisticsQuery = Type.Object({
  from: Type.Optional(
    Type.String({
      pattern: ISO_TIME.source,
      description: 'Start of the window (inclusive): ISO 8601, UTC without an offset; a date means its first moment.',
      examples: ['2026-05-12T00:00:00Z'],
    }),
  ),
  to: Type.Optional(
    Type.String({
      pattern: ISO_TIME.source,
      description: 'End of the window (inclusive); a date means its last moment.',
      examples: ['2026-05-13'],
    }),
  ),
})

const Time = Type.String({ format: 'date-time' })

/** A product as returned to callers. */
export const Product = named(
  'Product',
  Type.Object({
    externalId: Type.String(),
    title: Nullable(Type.String()),
    description: Nullable(Type.String()),
    images: Type.Array(
      Type.Object({
        sourceUrl: Type.String({ description: 'URL of the image; upload://… for an image sent as a file.' }),
        order: Type.Integer({ minimum: 0, description: 'Index in the list that was sent.' }),
        classifications: Nullable(ClassificationsSchema),
        detected: Type.Optional(DetectedSchema),
      }),
      { description: 'The classifications that were sent, and those that a try-on detected in the image.' },
    ),
    metadata: Type.Unknown({ description: 'The object that was sent, or null.' }),
    validForDays: Nullable(Type.Integer()),
    lastUsedAt: Nullable(Time),
    expiresAt: Nullable(Time),
    createdAt: Time,
    updatedAt: Time,
    warnings: Type.Optional(
      Type.Array(Type.String({ examples: ['CLASSIFICATION_TYPE_IGNORED'] }), {
        description: 'Codes of ignored classifications, in the answer to the call that sent them.',
      }),
    ),
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
    failedGenerations: Type.Integer({
      minimum: 0,
      description: 'Includes outfits that were made without the product.',
    }),
    avgGenerationTimeMs: Type.Integer({
      minimum: 0,
      description: 'Mean duration of completed generations in ms; 0 without any.',
    }),
  }),
)
export type ProductStatistics = Static<typeof ProductStatistics>
