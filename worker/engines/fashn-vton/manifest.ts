import { type Static, Type } from '../../../api/shared/schema.ts'
import { CATEGORIES } from '../../garment/garment.ts'
import { PROVIDERS } from '../../inference/session.ts'

const Count = Type.Integer({ minimum: 1, maximum: 1000 })
const Pixels = Type.Integer({ minimum: 1, maximum: 8192 })
/** Inside of the folder. */
const Path = Type.String({ minLength: 1, pattern: '^(?!/)(?!.*(^|/)\\.\\.(/|$)).+$' })
const Tensors = Type.Array(
  Type.Object({ name: Type.String(), shape: Type.Array(Type.Union([Type.String(), Type.Integer()])) }),
)

/** `engine.json` of this engine, as `scripts/export-engine` writes it. */
export const FashnVtonManifestSchema = Type.Object({
  interface: Type.Literal('fashn-vton/1'),
  name: Type.String({ minLength: 1 }),
  version: Type.String({ minLength: 1 }),
  kind: Type.Literal('photo'),
  license: Type.Object({ spdx: Type.String({ minLength: 1 }), commercial: Type.Boolean() }),
  accepts: Type.Object({
    categories: Type.Array(Type.Enum([...CATEGORIES])),
    garmentTypes: Type.Array(Type.String()),
    needsPerson: Type.Literal(true),
  }),
  aiGenerated: Type.Literal(true),
  size: Type.Object({ width: Pixels, height: Pixels }),
  providers: Type.Array(Type.Enum([...PROVIDERS])),
  sampling: Type.Object({
    solver: Type.Literal('euler'),
    schedule: Type.Object({ kind: Type.Literal('rectified-flow'), shift: Type.Number() }),
    steps: Type.Object({ fast: Count, balanced: Count, quality: Count }),
    guidance: Type.Number(),
    unguidedLastSteps: Type.Integer({ minimum: 0 }),
  }),
  /** The numbers that stand for a category. The graph takes any number and computes nonsense of others. */
  categories: Type.Object({
    tops: Type.Integer({ minimum: 0, maximum: 3 }),
    bottoms: Type.Integer({ minimum: 0, maximum: 3 }),
    'one-pieces': Type.Integer({ minimum: 0, maximum: 3 }),
    none: Type.Integer({ minimum: 0, maximum: 3 }),
  }),
  models: Type.Array(Type.Object({ name: Type.String(), file: Path, inputs: Tensors, outputs: Tensors })),
  files: Type.Array(
    Type.Object({
      path: Path,
      sha256: Type.String({ pattern: '^[0-9a-f]{64}$' }),
      bytes: Type.Integer({ minimum: 1 }),
    }),
    { minItems: 1 },
  ),
})

export type FashnVtonManifest = Static<typeof FashnVtonManifestSchema>
export type Mode = keyof FashnVtonManifest['sampling']['steps']
/** What the model was trained on. */
export type TrainedCategory = Exclude<keyof FashnVtonManifest['categories'], 'none'>
