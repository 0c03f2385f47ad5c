import { type Static, Type } from '../../../api/shared/contract/schema.ts'
import { engineName } from '../../../api/shared/engines/engine-names.ts'
import { CATEGORIES } from '../../../api/shared/generations/generation.ts'
import { PROVIDERS } from '../../inference/session.ts'

const Count = Type.Integer({ minimum: 1, maximum: 1000 })
const Pixels = Type.Integer({ minimum: 1, maximum: 8192 })
/** Path relative to the folder. */
const Path = Type.String({ minLength: 1, pattern: '^(?!/)(?!.*(^|/)\\.\\.(/|$)).+$' })
const Tensors = Type.Array(
  Type.Object({ name: Type.String(), shape: Type.Array(Type.Union([Type.String(), Type.Integer()])) }),
)
const License = Type.Object({ spdx: Type.String({ minLength: 1 }), commercial: Type.Boolean() })
const Category = Type.Integer({ minimum: 0, maximum: 3 })

/** `engine.json` of this engine, as `scripts/export-engine` writes it. */
export const FashnVtonManifestSchema = Type.Object({
  interface: Type.Literal('fashn-vton/1'),
  name: engineName(),
  version: Type.String({ minLength: 1 }),
  kind: Type.Literal('photo'),
  license: License,
  /** Third-party models that the folder also contains. */
  auxiliary: Type.Optional(Type.Array(Type.Object({ name: Type.String({ minLength: 1 }), license: License }))),
  accepts: Type.Object({
    categories: Type.Array(Type.Enum([...CATEGORIES])),
    garmentTypes: Type.Array(Type.String()),
    needsPerson: Type.Literal(true),
  }),
  aiGenerated: Type.Literal(true),
  size: Type.Object({ width: Pixels, height: Pixels }),
  providers: Type.Array(Type.Enum([...PROVIDERS])),
  models: Type.Array(Type.Object({ name: Type.String(), file: Path, inputs: Tensors, outputs: Tensors })),
  files: Type.Array(
    Type.Object({
      path: Path,
      sha256: Type.String({ pattern: '^[0-9a-f]{64}$' }),
      bytes: Type.Integer({ minimum: 1 }),
    }),
    { minItems: 1 },
  ),
  /** Min free device memory in MiB; absent if unknown. */
  minMemoryMiB: Type.Optional(Type.Integer({ minimum: 1 })),
  /** Evenly spaced values of the self-test's drawing. */
  golden: Type.Optional(Type.Array(Type.Number(), { minItems: 1, maxItems: 4096 })),
  sampling: Type.Object({
    solver: Type.Literal('euler'),
    schedule: Type.Object({ kind: Type.Literal('rectified-flow'), shift: Type.Number() }),
    /** Number of steps per image in each mode. */
    steps: Type.Object({ fast: Count, balanced: Count, quality: Count }),
    guidance: Type.Number(),
    unguidedLastSteps: Type.Integer({ minimum: 0 }),
  }),
  /** Class id of each category. The graph accepts any number, but other numbers produce nonsense. */
  categories: Type.Object({ tops: Category, bottoms: Category, 'one-pieces': Category, none: Category }),
})

export type FashnVtonManifest = Static<typeof FashnVtonManifestSchema>
export type Mode = keyof FashnVtonManifest['sampling']['steps']
