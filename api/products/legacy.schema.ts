import { Output, PersonSource, TryOnBody } from '../generations/try-on.schema.ts'
import { named } from '../http/openapi/named-schema.ts'
import { ExternalUserId, KeepForDays } from '../photos/images.schema.ts'
import { Type } from '../shared/contract/schema.ts'
import { ClassificationsSchema } from '../shared/generations/generation.ts'
import {
  CatalogProductBody,
  FileKey,
  MAX_IMAGES,
  ProductBody,
  ProductImageBody,
  WebAddress,
} from './products.schema.ts'

// Older formats that `legacy.ts` translates, for readers of the document. The translation is validated, not these
// schemas.

/** `source` is optional because its fields may be siblings of it. */
const FlatImage = Type.Object({
  source: Type.Optional(ProductImageBody.properties.source),
  url: Type.Optional(Type.String({ ...WebAddress, deprecated: true })),
  fileKey: Type.Optional(Type.String({ ...FileKey, deprecated: true })),
  classifications: Type.Optional(ClassificationsSchema),
})

const FlatProduct = Type.Object({
  ...ProductBody.properties,
  images: Type.Optional(Type.Array(FlatImage, { minItems: 1, maxItems: MAX_IMAGES })),
})

export const LegacyTryOnBody = named(
  'LegacyTryOn',
  Type.Object(
    {
      products: Type.Optional(Type.Array(FlatProduct, { minItems: 1, maxItems: 1 })),
      product: Type.Optional(FlatProduct),
      person: Type.Optional(TryOnBody.properties.person),
      customer: Type.Optional(
        Type.Union([Type.Object({ source: PersonSource }), PersonSource], { description: 'Older person.image.' }),
      ),
      externalUserId: Type.Optional(ExternalUserId),
      customerId: Type.Optional(Type.String({ ...ExternalUserId, description: 'Older externalUserId.' })),
      priority: Type.Optional(TryOnBody.properties.priority),
      maxWaitSeconds: TryOnBody.properties.maxWaitSeconds,
      output: Type.Optional(Output),
      useWatermark: Type.Optional(Type.Boolean({ description: 'Older output.watermark.' })),
      retentionDays: Type.Optional({ ...KeepForDays, description: 'Older output.keepForDays.' }),
    },
    {
      deprecated: true,
      description:
        'Older formats, still accepted. If a field is sent in both formats, the new format takes precedence.',
    },
  ),
)

export const LegacyProductBody = named(
  'LegacyProductInput',
  Type.Object(
    {
      ...CatalogProductBody.properties,
      images: FlatProduct.properties.images,
      imageUrls: Type.Optional(Type.Array(WebAddress, { maxItems: MAX_IMAGES, description: 'Older images.' })),
    },
    {
      deprecated: true,
      description:
        'Older formats, still accepted. If a field is sent in both formats, the new format takes precedence.',
    },
  ),
)

export const LegacyUploadFields = Type.Object({
  customerId: Type.Optional(Type.String({ ...ExternalUserId, deprecated: true, description: 'Older externalUserId.' })),
  retentionDays: Type.Optional({ ...KeepForDays, deprecated: true, description: 'Older keepForDays.' }),
})
