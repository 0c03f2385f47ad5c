import { ErrorFields } from '../../generations/error-fields.ts'
import { named } from '../../openapi/named-schema.ts'
import { STATUSES } from '../../shared/generation.ts'
import { Nullable, type Static, Type } from '../../shared/schema.ts'

const Engine = Type.Object(
  {
    name: Type.String(),
    version: Type.String(),
    license: Type.String({ description: 'SPDX expression.' }),
    kind: Type.String({ description: 'What its pictures are good for: photo, preview or test.' }),
  },
  { description: 'The engine that made the picture.' },
)

export const EstimatedStartSeconds = Type.Integer({
  minimum: 0,
  description:
    'While PENDING: estimated seconds until a worker starts it, the start of a worker pool at zero included.',
})
export const EstimatedStartRange = Type.Object(
  { min: Type.Integer({ minimum: 0 }), max: Type.Integer({ minimum: 0 }) },
  { description: 'While PENDING: seconds between which a worker starts it in 9 of 10 cases.' },
)
export const EstimatedSeconds = Type.Integer({
  minimum: 1,
  description: 'While PENDING: estimated seconds until it is finished, at the pace of recent ones.',
})

export const EngineName = Type.String({ description: 'Name of the engine that renders the try-on.' })
export const RequestedEngine = Type.String({
  description:
    'Name of the requested or default engine when a fallback engine of the account stands in for it; absent otherwise.',
})

export const Consent = Type.Object(
  {
    policy: Type.String({
      minLength: 1,
      maxLength: 253,
      description: 'Domain of a shop of the account, or a policy that the operator published for the account.',
      examples: ['shop.example'],
    }),
    version: Type.String({
      minLength: 1,
      maxLength: 64,
      description: 'The version that counts now.',
      examples: ['2026-11'],
    }),
    at: Type.String({ format: 'date-time', description: 'When the person agreed; not in the future.' }),
  },
  { description: 'What the person of the photo agreed to. Stored and returned with the generation.' },
)

/** A generation as callers see it. */
export const Generation = named(
  'Generation',
  Type.Object({
    generationId: Type.String(),
    status: Type.Enum([...STATUSES], { description: 'COMPLETED and FAILED are final.' }),
    queuePosition: Type.Optional(
      Type.Integer({ minimum: 1, description: 'While PENDING: the place in the line; 1 is started next.' }),
    ),
    estimatedStartSeconds: Type.Optional(EstimatedStartSeconds),
    estimatedStartRange: Type.Optional(EstimatedStartRange),
    estimatedSeconds: Type.Optional(EstimatedSeconds),
    progress: Type.Optional(Type.Number({ minimum: 0, maximum: 1, description: 'While PROCESSING: the share done.' })),
    resultImageUrl: Type.Optional(
      Nullable(
        Type.String({
          format: 'uri',
          description:
            'When COMPLETED: the picture. The link works for an hour; fetch the generation again for a fresh one.',
        }),
      ),
    ),
    imagesExpired: Type.Optional(
      Type.Boolean({
        description: 'True when the picture was deleted at the end of its time; resultImageUrl is null then.',
      }),
    ),
    engineName: EngineName,
    requestedEngine: Type.Optional(RequestedEngine),
    consent: Type.Optional(Consent),
    engine: Type.Optional(Engine),
    category: Type.Optional(Nullable(Type.String({ description: 'What kind of garment was put on.' }))),
    quality: Type.Optional(
      Nullable(
        Type.Number({
          minimum: 0,
          maximum: 1,
          description:
            'When COMPLETED: how good the picture looks by automatic measures, 1 without visible faults; null where it cannot be judged.',
        }),
      ),
    ),
    timings: Type.Optional(
      Type.Record(Type.String(), Type.Number(), { description: 'When COMPLETED: ms that each stage took.' }),
    ),
    warnings: Type.Optional(
      Type.Array(Type.String(), {
        description:
          'When COMPLETED: what the picture lacks of what was asked (upper case), and what spoke against the photo (lower case).',
      }),
    ),
    ingredientSalt: Type.Optional(
      Type.String({
        description:
          "When COMPLETED: the secret with which the result's Content Credentials name the photo and the product image. It proves that the result was made from an image; keep it secret.",
      }),
    ),
    errorMessage: Type.Optional(Type.String({ description: 'When FAILED: what happened, for people.' })),
    errorCode: Type.Optional(
      Type.String({ description: 'When FAILED: a stable code to act on.', examples: ['PRODUCT_IMAGE_FETCH_FAILED'] }),
    ),
    errorDetails: Type.Optional(ErrorFields),
    createdAt: Type.String({ format: 'date-time' }),
    updatedAt: Type.String({
      format: 'date-time',
      description: 'Time of the last change of status; strictly grows. Progress does not change it.',
    }),
  }),
)
export type Generation = Static<typeof Generation>
