import { type Static, Type } from '../../../api/shared/schema.ts'
import { ENGINE_FIELDS, STEPS } from '../diffusion/manifest.ts'

/** `engine.json` of this engine, as `scripts/export-engine` writes it. */
export const CatVtonManifestSchema = Type.Object({
  interface: Type.Literal('catvton/1'),
  ...ENGINE_FIELDS,
  sampling: Type.Object({
    solver: Type.Literal('ddim'),
    /** Share of fresh noise in each step: 0 for none, 1 for the amount that training removes. */
    eta: Type.Number({ minimum: 0, maximum: 1 }),
    schedule: Type.Object({
      kind: Type.Literal('scaled-linear'),
      trainingSteps: Type.Integer({ minimum: 1, maximum: 10_000 }),
      betaStart: Type.Number({ exclusiveMinimum: 0, exclusiveMaximum: 1 }),
      betaEnd: Type.Number({ exclusiveMinimum: 0, exclusiveMaximum: 1 }),
      spacing: Type.Literal('leading'),
      offset: Type.Integer({ minimum: 0, maximum: 1 }),
      prediction: Type.Literal('epsilon'),
      clipSample: Type.Literal(false),
      finalAlphaIsOne: Type.Boolean(),
    }),
    steps: STEPS,
    guidance: Type.Number({ minimum: 1 }),
  }),
  /** Factor from latents of the autoencoder to the network's input. */
  latentScale: Type.Number({ exclusiveMinimum: 0 }),
})

export type CatVtonManifest = Static<typeof CatVtonManifestSchema>
export type Sampling = CatVtonManifest['sampling']
