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

/** A generation as callers see it. */
export const Generation = Type.Object({
  generationId: Type.String(),
  status: Type.Enum([...STATUSES], { description: 'COMPLETED and FAILED are final.' }),
  queuePosition: Type.Optional(
    Type.Integer({ minimum: 1, description: 'While PENDING: the place in the line; 1 is started next.' }),
  ),
  estimatedSeconds: Type.Optional(
    Type.Integer({ minimum: 1, description: 'While PENDING: until it will be finished, at the pace of recent ones.' }),
  ),
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
  engine: Type.Optional(Engine),
  category: Type.Optional(Nullable(Type.String({ description: 'What kind of garment was put on.' }))),
  timings: Type.Optional(
    Type.Record(Type.String(), Type.Number(), { description: 'When COMPLETED: ms that each stage took.' }),
  ),
  warnings: Type.Optional(
    Type.Array(Type.String(), {
      description:
        'When COMPLETED: what the picture lacks of what was asked (upper case), and what spoke against the photo (lower case).',
    }),
  ),
  errorMessage: Type.Optional(Type.String({ description: 'When FAILED: what happened, for people.' })),
  errorCode: Type.Optional(
    Type.String({ description: 'When FAILED: a stable code to act on.', examples: ['PRODUCT_IMAGE_FETCH_FAILED'] }),
  ),
  createdAt: Type.String({ format: 'date-time' }),
  updatedAt: Type.String({ format: 'date-time', description: 'Of the last change; strictly grows.' }),
})
export type Generation = Static<typeof Generation>
