import { named } from '../../http/openapi/named-schema.ts'
import { Nullable, type Static, Type } from '../../shared/contract/schema.ts'
import { ENGINE_KINDS } from '../../shared/engines/engine-catalogue.ts'
import { CATEGORIES, GARMENT_TYPES, MODES } from '../../shared/generations/generation.ts'

export const EngineDescription = named(
  'EngineDescription',
  Type.Object({
    name: Type.String({ description: 'Value of `output.engine`.' }),
    version: Nullable(Type.String({ description: 'Version of the engine; null before a worker has reported one.' })),
    kind: Nullable(
      Type.Enum([...ENGINE_KINDS], {
        description:
          'preview: geometric rendering. photo: image of a generative model. test: returns the photo. null before a worker has reported one.',
      }),
    ),
    license: Nullable(Type.String({ description: 'Licence of the engine and its model files; null while unknown.' })),
    categories: Type.Array(Type.Enum([...CATEGORIES]), {
      description: 'Categories of garments that the engine accepts.',
    }),
    garmentTypes: Type.Array(Type.Enum([...GARMENT_TYPES]), {
      description: 'Classifications of product images that the engine accepts, by its Engine resource or its workers.',
    }),
    outfits: Type.Boolean({ description: 'Whether the engine renders outfits: POST /tryon/v1/outfits.' }),
    maxCount: Type.Integer({ minimum: 1, description: 'Maximum of `output.count`.' }),
    modes: Type.Array(Type.Enum([...MODES]), { description: 'Values of `output.mode`.' }),
    credits: Type.Integer({ minimum: 0, description: 'Price of a result in credits.' }),
    isDefault: Type.Boolean({ description: 'Whether try-ons that name no engine use this engine.' }),
    state: Type.Enum(['ready', 'scaling_from_zero', 'unavailable'], {
      description:
        'ready: live workers run the engine. scaling_from_zero: no worker is live; an accepted try-on waits until a worker starts. unavailable: no worker is live and none is expected; a try-on is refused with SERVICE_UNAVAILABLE.',
    }),
    expectedWaitSeconds: Nullable(
      Type.Integer({
        minimum: 0,
        description: 'Estimated seconds until a try-on accepted now starts; null while the engine is unavailable.',
      }),
    ),
  }),
)
export type EngineDescription = Static<typeof EngineDescription>

export const EngineList = named('EngineList', Type.Object({ engines: Type.Array(EngineDescription) }))
export type EngineList = Static<typeof EngineList>
