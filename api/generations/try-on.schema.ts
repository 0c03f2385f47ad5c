import { named } from '../http/openapi/named-schema.ts'
import { ExternalUserId, KeepForDays } from '../photos/images.schema.ts'
import { FileKey, ProductBody, WebAddress } from '../products/products.schema.ts'
import { type Static, Type } from '../shared/contract/schema.ts'
import { BUILT_IN_ENGINES } from '../shared/engines/engine-catalogue.ts'
import {
  DEADLINE_SECONDS,
  DEFAULT_MODE,
  DEFAULT_SEED,
  FORMATS,
  MAX_RESULTS,
  MODES,
  PRIORITIES,
  STATUSES,
} from '../shared/generations/generation.ts'
import {
  Consent,
  EngineName,
  EstimatedSeconds,
  EstimatedStartRange,
  EstimatedStartSeconds,
  Generation,
  RequestedEngine,
} from './generations.schema.ts'

export const PersonSource = Type.Object(
  {
    id: Type.Optional(Type.String({ minLength: 1, description: 'The imageId of an upload (recommended).' })),
    url: Type.Optional(WebAddress),
    fileKey: Type.Optional(FileKey),
  },
  {
    additionalProperties: false,
    minProperties: 1,
    maxProperties: 1,
    description: 'Exactly one of id, url and fileKey. Photos by url and fileKey are cropped to 4:5.',
  },
)

const { properties: sources } = PersonSource

const Mask = Type.Object(
  {
    image: Type.Object({
      source: Type.Object(sources, {
        additionalProperties: false,
        minProperties: 1,
        maxProperties: 1,
        description: 'Exactly one of id, url and fileKey. The image is not cropped.',
      }),
    }),
    keep: Type.Boolean({
      default: false,
      description: 'false: only the white region may change. true: the white region does not change.',
    }),
  },
  {
    description:
      'Region of the photo that may change: an image in the coordinates and the aspect ratio of the whole, uncropped photo, upright. Opaque pixels above half brightness are white. Deleted with the photo. Not for outfits.',
  },
)

export const Output = Type.Object(
  {
    watermark: Type.Boolean({
      default: true,
      description: 'Whether to add the logo of the account, if it has one.',
    }),
    keepForDays: Type.Optional(KeepForDays),
    deadlineSeconds: Type.Optional(
      Type.Integer({
        minimum: DEADLINE_SECONDS.min,
        maximum: DEADLINE_SECONDS.max,
        description:
          'Deadline in seconds. An unfinished try-on then fails with GENERATION_TIMEOUT, and its credits are refunded. ' +
          'Default: 300; longer, up to 3600, if three times estimatedSeconds or the start of a worker take longer.',
      }),
    ),
    seed: Type.Integer({ minimum: 0, maximum: 2 ** 31 - 1, default: DEFAULT_SEED }),
    count: Type.Integer({
      minimum: 1,
      maximum: MAX_RESULTS,
      default: 1,
      description:
        'Number of images, each with a seed of its own and for the price of a try-on; at most maxCount of the engine. The generation lists them as results; failed ones are refunded. Not for outfits.',
    }),
    mask: Type.Optional(Mask),
    changedMask: Type.Boolean({
      default: false,
      description:
        'Whether results have a changedMaskUrl: a PNG of their size that is black where they equal the stored photo, before logo and encoding. Not for outfits.',
    }),
    mode: Type.Enum([...MODES], { default: DEFAULT_MODE }),
    engine: Type.Optional(
      Type.String({
        maxLength: 48,
        description:
          'Name of an engine of GET /tryon/v1/engines. Default: the engine of the account, else of the installation. mock returns the photo and is free.',
        examples: [...BUILT_IN_ENGINES],
      }),
    ),
    fallback: Type.Boolean({
      default: true,
      description:
        'Whether a fallback engine of the account may replace the engine when the engine would start too late or is unavailable.',
    }),
    format: Type.Enum([...FORMATS], { default: 'jpeg' }),
    fullResolution: Type.Boolean({
      default: false,
      description: 'Whether to paste the result back into the whole, uncropped photo.',
    }),
  },
  { default: {} },
)

export const TryOnBody = named(
  'TryOn',
  Type.Object({
    products: Type.Array(ProductBody, { minItems: 1, maxItems: 1 }),
    person: Type.Object({ image: Type.Object({ source: PersonSource }) }),
    externalUserId: Type.Optional(ExternalUserId),
    consent: Type.Optional(Consent),
    priority: Type.Enum([...PRIORITIES], {
      default: 'interactive',
      description:
        'batch: for catalogue runs; starts after all interactive try-ons of the account, including those of shoppers. Send a long output.deadlineSeconds with batch.',
    }),
    maxWaitSeconds: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 3600,
        description:
          'Max seconds until a worker starts the try-on. When the estimate is longer, the call is refused with SERVICE_UNAVAILABLE before the charge.',
      }),
    ),
    output: Output,
  }),
)
export type TryOnBody = Static<typeof TryOnBody>

const productExternalId = Type.String({
  description: 'The id that was sent, or the id that the server assigned to a one-shot product, valid in later calls.',
})

export const AcceptedTryOn = named(
  'AcceptedTryOn',
  Type.Object({
    generationId: Type.String(),
    status: Type.Enum([...STATUSES]),
    productExternalId,
    engineName: EngineName,
    requestedEngine: Type.Optional(RequestedEngine),
    estimatedStartSeconds: Type.Optional(EstimatedStartSeconds),
    estimatedStartRange: Type.Optional(EstimatedStartRange),
    estimatedSeconds: Type.Optional(EstimatedSeconds),
    warnings: Type.Optional(
      Type.Array(Type.String({ examples: ['CUSTOMER_IGNORED'] }), {
        description:
          'Codes of ignored fields: older fields sent in addition to the new ones, classifications with unknown values, and EXTERNAL_USER_ID_IGNORED for an externalUserId that is not at the top level of the body.',
      }),
    ),
  }),
)
export type AcceptedTryOn = Static<typeof AcceptedTryOn>

export const AwaitedTryOn = named('AwaitedTryOn', Type.Object({ ...Generation.properties, productExternalId }))
export type AwaitedTryOn = Static<typeof AwaitedTryOn>
