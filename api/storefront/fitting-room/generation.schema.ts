import { AppealUrl, ImagesExpired, ResultImageUrl } from '../../generations/generations.schema.ts'
import { named } from '../../http/openapi/named-schema.ts'
import { Nullable, type Static, Type } from '../../shared/contract/schema.ts'
import { STATUSES } from '../../shared/generations/generation.ts'

/** A generation as returned to shoppers: except for `resultImageUrl` and `imagesExpired`, all fields are always present, null without a value. */
export const ShopperGeneration = named(
  'ShopperGeneration',
  Type.Object({
    generationId: Type.String(),
    status: Type.Enum([...STATUSES], { description: 'COMPLETED and FAILED are final.' }),
    resultImageUrl: Type.Optional(ResultImageUrl),
    imagesExpired: Type.Optional(ImagesExpired),
    errorMessage: Nullable(Type.String({ description: 'When FAILED: human-readable reason.' })),
    errorCode: Nullable(Type.String({ description: 'When FAILED: stable error code; branch on it.' })),
    appealUrl: Nullable(AppealUrl),
    createdAt: Type.String({ format: 'date-time' }),
    updatedAt: Type.String({ format: 'date-time', description: 'Time of the last change; strictly increasing.' }),
  }),
)
export type ShopperGeneration = Static<typeof ShopperGeneration>
