import { type Evidence, gatherEvidence } from './evidence.ts'
import { type Fault, findFault } from './faults.ts'
import { describeProduct, type Product } from './product.ts'
import { type Result, sceneOf } from './scene.ts'
import { findSigns, SIGNS, type Signs } from './signs.ts'
import type { Strain } from './strain.ts'

/** Weight of each sign. Fitted by `scripts/bench quality --ranking --fit` on half of the rendered figures, except for `flat`. */
const WEIGHTS: Signs = {
  unexplained: 0.79,
  holes: 1.31,
  leftover: 0.96,
  ragged: 0.9,
  stubs: 0.77,
  unequal: 0.69,
  onArms: 0.85,
  cast: 0.05,
  tint: 0.25,
  ridge: 0.37,
  step: 0.62,
  blur: 0.86,
  length: 0.59,
  print: 0.62,
  flat: 0.4,
}

/** Damage at which the score is 0.5. */
const HALF = 5
const STEEPNESS = 0.8

/** Fitted by scripts/photos/fit.ts on results of the engine `warp` that were rated by eye. */
export const PREVIEW = { base: 2.86, skin: 4.84, background: 6.54, outer: 2.99 } as const

export interface Judgement {
  readonly signs: Signs
  /** 0 to 1, where 1 has no visible fault. */
  readonly quality: number
  /** A fault that must not be shown; null if there is none. */
  readonly fault: Fault | null
}

/**
 * Judges a result without a reference image; null if the person is too small, or if the product cannot be separated from its
 * background. `product` is the garment's description, if the caller already has it.
 */
export function judgeResult(result: Result, product?: Product | null): Judgement | null {
  const evidence = evidenceOf(result, product)
  if (!evidence) return null
  const signs = findSigns(evidence)
  return { signs, quality: qualityOf(signs), fault: findFault(evidence) }
}

/** The fault of a result that must not be shown; null if there is none, or if the result cannot be judged. */
export function faultOf(result: Result, product?: Product | null): Fault | null {
  const evidence = evidenceOf(result, product)
  return evidence && findFault(evidence)
}

function evidenceOf(result: Result, product = describeProduct(result.garment)): Evidence | null {
  const scene = product && sceneOf(result)
  return scene && gatherEvidence(scene, product)
}

export function qualityOf(signs: Signs): number {
  return 1 / (1 + Math.exp(STEEPNESS * (damageOf(signs) - HALF)))
}

/** The weighted sum of all signs, at least 0. */
function damageOf(signs: Signs): number {
  return SIGNS.reduce((sum, name) => sum + WEIGHTS[name] * Math.log1p(4 * signs[name]), 0)
}

/** The chance, 0 to 1, that a person rates a preview good enough: 3 to 5 on the scale of scripts/photos/SCALE.md. */
export function previewQuality(strain: Strain): number {
  const burdens = (['skin', 'background', 'outer'] as const).map((name) => PREVIEW[name] * Math.sqrt(strain[name]))
  return 1 / (1 + Math.exp(burdens.reduce((sum, burden) => sum + burden) - PREVIEW.base))
}
