import { named } from '../../openapi/named-schema.ts'
import { STATUSES } from '../../shared/generation.ts'
import { Nullable, type Static, Type } from '../../shared/schema.ts'

/** A generation as shoppers see it: always the same fields, null where there is nothing to say. */
export const ShopperGeneration = named(
  'ShopperGeneration',
  Type.Object({
    generationId: Type.String(),
    status: Type.Enum([...STATUSES], { description: 'COMPLETED and FAILED are final.' }),
    resultImageUrl: Nullable(
      Type.String({
        format: 'uri',
        description:
          'When COMPLETED: the picture, until it is deleted. The link works for an hour; ask again for a fresh one.',
      }),
    ),
    errorMessage: Nullable(Type.String({ description: 'When FAILED: what happened, for people.' })),
    errorCode: Nullable(Type.String({ description: 'When FAILED: a stable code to act on.' })),
    createdAt: Type.String({ format: 'date-time' }),
    updatedAt: Type.String({ format: 'date-time', description: 'Of the last change; strictly grows.' }),
  }),
)
export type ShopperGeneration = Static<typeof ShopperGeneration>
