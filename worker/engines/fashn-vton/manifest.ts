import { type Static, Type } from '../../../api/shared/schema.ts'
import { ENGINE_FIELDS, STEPS } from './engine-fields.ts'

const Category = Type.Integer({ minimum: 0, maximum: 3 })

/** `engine.json` of this engine, as `scripts/export-engine` writes it. */
export const FashnVtonManifestSchema = Type.Object({
  interface: Type.Literal('fashn-vton/1'),
  ...ENGINE_FIELDS,
  sampling: Type.Object({
    solver: Type.Literal('euler'),
    schedule: Type.Object({ kind: Type.Literal('rectified-flow'), shift: Type.Number() }),
    steps: STEPS,
    guidance: Type.Number(),
    unguidedLastSteps: Type.Integer({ minimum: 0 }),
  }),
  /** Class id of each category. The graph accepts any number, but other numbers produce nonsense. */
  categories: Type.Object({ tops: Category, bottoms: Category, 'one-pieces': Category, none: Category }),
})

export type FashnVtonManifest = Static<typeof FashnVtonManifestSchema>
