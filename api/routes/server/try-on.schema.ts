import {
  DEFAULT_MODE,
  DEFAULT_SEED,
  ENGINES,
  type EngineName,
  FORMATS,
  MODES,
  STATUSES,
} from '../../shared/generation.ts'
import { type Static, Type } from '../../shared/schema.ts'
import { Generation } from './generations.schema.ts'
import { ExternalUserId, KeepForDays } from './images.schema.ts'
import { FileKey, ProductBody, WebAddress } from './products.schema.ts'

export const PersonSource = Type.Object(
  {
    id: Type.Optional(Type.String({ minLength: 1, description: 'The imageId of an upload; the way we recommend.' })),
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

export const Output = Type.Object(
  {
    watermark: Type.Boolean({
      default: true,
      description: 'Whether the logo of the account, if it has one, is put on.',
    }),
    keepForDays: Type.Optional(KeepForDays),
    deadlineSeconds: Type.Integer({
      minimum: 5,
      maximum: 3600,
      default: 300,
      description: 'What is not finished by then fails with GENERATION_TIMEOUT, and its credit comes back.',
    }),
    seed: Type.Integer({ minimum: 0, maximum: 2 ** 31 - 1, default: DEFAULT_SEED }),
    mode: Type.Enum([...MODES], { default: DEFAULT_MODE }),
    engine: Type.Optional(
      Type.Enum(Object.keys(ENGINES) as EngineName[], {
        description: 'The default is the choice of the installation. mock gives the photo back and costs nothing.',
      }),
    ),
    format: Type.Enum([...FORMATS], { default: 'jpeg' }),
    fullResolution: Type.Boolean({
      default: false,
      description: 'Whether the result is put back into the whole photo, uncropped.',
    }),
  },
  { default: {} },
)

export const TryOnBody = Type.Object({
  products: Type.Array(ProductBody, { minItems: 1, maxItems: 1 }),
  person: Type.Object({ image: Type.Object({ source: PersonSource }) }),
  externalUserId: Type.Optional(ExternalUserId),
  output: Output,
})
export type TryOnBody = Static<typeof TryOnBody>

const productExternalId = Type.String({
  description: 'The id that was sent; of a one-shot product the one that the server gave, good for later calls.',
})

export const AcceptedTryOn = Type.Object({
  generationId: Type.String(),
  status: Type.Enum([...STATUSES]),
  productExternalId,
})
export type AcceptedTryOn = Static<typeof AcceptedTryOn>

export const AwaitedTryOn = Type.Object({ ...Generation.properties, productExternalId })
