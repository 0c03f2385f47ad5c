import { named } from '../http/openapi/named-schema.ts'
import { Nullable, type Static, Type } from '../shared/contract/schema.ts'
import { LAYERS, STATUSES } from '../shared/generations/generation.ts'
import { ErrorFields } from './error-fields.ts'

const Engine = Type.Object(
  {
    name: Type.String(),
    version: Type.String(),
    license: Type.String({ description: 'SPDX expression.' }),
    kind: Type.String({ description: 'Kind of its images: photo, preview or test.' }),
  },
  { description: 'The engine that rendered the image.' },
)

export const EstimatedStartSeconds = Type.Integer({
  minimum: 0,
  description:
    'While PENDING: estimated seconds until a worker starts the try-on, including the start of a worker pool that was scaled to zero.',
})
export const EstimatedStartRange = Type.Object(
  { min: Type.Integer({ minimum: 0 }), max: Type.Integer({ minimum: 0 }) },
  { description: 'While PENDING: range in seconds in which a worker starts the try-on in 9 of 10 cases.' },
)
export const EstimatedSeconds = Type.Integer({
  minimum: 1,
  description: 'While PENDING: estimated seconds until the try-on ends, at the pace of recent try-ons.',
})

export const EngineName = Type.String({ description: 'Name of the engine that renders the try-on.' })
export const RequestedEngine = Type.String({
  description:
    'Name of the requested or default engine when a fallback engine of the account replaces it; absent otherwise.',
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
      description: 'Current version of the policy.',
      examples: ['2026-11'],
    }),
    at: Type.String({ format: 'date-time', description: 'When the person agreed; not in the future.' }),
  },
  { description: 'Consent of the person in the photo. Stored and returned with the generation.' },
)

export const AppealUrl = Type.String({
  format: 'uri',
  description:
    'When FAILED because a safety check refused an image: page on which the person in the photo can ask for a review. Anyone with the URL can.',
})

export const ResultImageUrl = Type.String({
  format: 'uri',
  description:
    'When COMPLETED, until the image expires or is erased: URL of the image. It works for 1 hour; fetch the generation again for a new URL.',
})
export const ImagesExpired = Type.Boolean({
  description: 'True when the image has expired or was erased; resultImageUrl is absent then.',
})

export const OutfitLayer = named(
  'OutfitLayer',
  Type.Object({
    productExternalId: Type.String(),
    layer: Type.Enum([...LAYERS], {
      description: 'Layers are put on in the order bottoms, one-pieces, tops, outerwear.',
    }),
    applied: Type.Optional(
      Type.Boolean({
        description: 'When COMPLETED: whether the person wears the product. False only with partial: allowed.',
      }),
    ),
    quality: Type.Optional(
      Nullable(Type.Number({ minimum: 0, maximum: 1, description: 'As quality of a generation.' })),
    ),
    warnings: Type.Optional(Type.Array(Type.String(), { description: 'As warnings of a generation.' })),
    errorCode: Type.Optional(Type.String({ description: 'Why the product was left out.' })),
    errorMessage: Type.Optional(Type.String()),
  }),
)

const GenerationResult = named(
  'GenerationResult',
  Type.Object({
    seed: Type.Integer({ description: 'Seed of the image. As output.seed it draws the image again.' }),
    imageUrl: Type.Optional(
      Type.String({
        format: 'uri',
        description: 'As resultImageUrl; absent for a failed result, or when the image has expired.',
      }),
    ),
    changedMaskUrl: Type.Optional(
      Type.String({
        format: 'uri',
        description: 'With output.changedMask: URL of the mask of what the image changes, as imageUrl.',
      }),
    ),
    quality: Type.Optional(
      Nullable(Type.Number({ minimum: 0, maximum: 1, description: 'As quality of a generation.' })),
    ),
    errorCode: Type.Optional(Type.String({ description: 'Why the result failed; its credits are refunded.' })),
    errorMessage: Type.Optional(Type.String()),
  }),
)

/** A generation as returned to callers. */
export const Generation = named(
  'Generation',
  Type.Object({
    generationId: Type.String(),
    status: Type.Enum([...STATUSES], { description: 'COMPLETED and FAILED are final.' }),
    queuePosition: Type.Optional(
      Type.Integer({ minimum: 1, description: 'While PENDING: position in the queue; 1 starts next.' }),
    ),
    estimatedStartSeconds: Type.Optional(EstimatedStartSeconds),
    estimatedStartRange: Type.Optional(EstimatedStartRange),
    estimatedSeconds: Type.Optional(EstimatedSeconds),
    progress: Type.Optional(
      Type.Number({ minimum: 0, maximum: 1, description: 'While PROCESSING: share of the work that is done.' }),
    ),
    resultImageUrl: Type.Optional(ResultImageUrl),
    imagesExpired: Type.Optional(ImagesExpired),
    results: Type.Optional(
      Type.Array(GenerationResult, {
        description:
          'When COMPLETED with output.count above 1 or output.changedMask: a result for each seed, one after another, then the failed ones. The first is that of resultImageUrl.',
      }),
    ),
    engineName: EngineName,
    requestedEngine: Type.Optional(RequestedEngine),
    consent: Type.Optional(Consent),
    engine: Type.Optional(Engine),
    category: Type.Optional(Nullable(Type.String({ description: 'Category of the garment.' }))),
    quality: Type.Optional(
      Nullable(
        Type.Number({
          minimum: 0,
          maximum: 1,
          description:
            'When COMPLETED: estimated chance that a person rates the preview good enough; null for other engines.',
        }),
      ),
    ),
    reused: Type.Optional(
      Type.Boolean({ description: 'When COMPLETED: true for a copy of the result of an earlier, equal try-on.' }),
    ),
    layers: Type.Optional(
      Type.Array(OutfitLayer, { description: 'The products of an outfit, in the order of the call.' }),
    ),
    timings: Type.Optional(
      Type.Record(Type.String(), Type.Number(), { description: 'When COMPLETED: duration of each stage in ms.' }),
    ),
    warnings: Type.Optional(
      Type.Array(Type.String(), {
        description: 'When COMPLETED: warnings about the result (upper case) and about the photo (lower case).',
      }),
    ),
    ingredientSalt: Type.Optional(
      Type.String({
        description:
          "When COMPLETED: the secret salt of the photo's and the product image's hashes in the result's Content Credentials. It proves that the result was made from an image; keep it secret.",
      }),
    ),
    errorMessage: Type.Optional(Type.String({ description: 'When FAILED: human-readable reason.' })),
    errorCode: Type.Optional(
      Type.String({
        description: 'When FAILED: stable error code; branch on it.',
        examples: ['PRODUCT_IMAGE_FETCH_FAILED'],
      }),
    ),
    errorDetails: Type.Optional(ErrorFields),
    appealUrl: Type.Optional(AppealUrl),
    createdAt: Type.String({ format: 'date-time' }),
    updatedAt: Type.String({
      format: 'date-time',
      description: 'Time of the last status change; strictly increasing. Progress does not change it.',
    }),
  }),
)
export type Generation = Static<typeof Generation>
