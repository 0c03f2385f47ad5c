/**
 * Tuned values of this stage. L, a and b are CIE Lab; ΔE is CIE 1976; lengths are body units; factors and shares have no unit. Unless noted
 * otherwise, the values were chosen on the rendered figures of test/fixtures with `scripts/bench quality`. The named tests fail without the
 * value.
 */

/** Max mean ΔE by which shading changes the product's colour; beyond it all shading is weakened. shade/shade.test.ts, "harsh light". */
export const MAX_DIFFERENCE = 4.5

// The light on the worn cloth.

/** Blur (sigma) of lightness: shows single folds, levels folds, levels the garment. */
export const LIGHT_SIGMA = { fold: 0.012, level: 0.1, scene: 0.45 } as const
/** Limits of the factor of a fold and of a large shadow. */
export const LIGHT_LIMITS = { fold: [0.6, 1.5], scene: [0.75, 1.25] } as const
/** L added to both operands of a division, to avoid flicker on black cloth. */
export const DARK_OFFSET = 8
/**
 * Share of a large shadow that is transferred where folds are visible, and where they are not; `folds` is the depth that separates the two.
 */
export const SCENE_DEPTH = { folded: 0.45, plain: 0.2, folds: 0.1 } as const
/** Confidence in the worn cloth: the blur (sigma) of its mask, and the linear map from there to the confidence. */
export const BELIEF = { sigma: 0.02, slope: 1.6, offset: 0.4 } as const
/** Depth of transferred folds: at most `max`, less for a high deviation of L (pattern) and on black cloth. "stripes", "black cloth". */
export const FOLD_DEPTH = { max: 0.55, deviation: [1.35, 7], black: [12, 28] } as const
/**
 * Print as opposed to light: difference in tint and L from the garment's median, and in L from its surroundings; blurs, and max share of
 * print around a pixel.
 */
export const PRINT = { tint: 9, local: 7, lightness: 24, localSigma: 0.02, sigma: 0.015, share: 0.25 } as const

// The roundness of the body.

/** Darkening of cloth at the torso's rim, exponent of the distance, and extent beyond the rim. */
export const TORSO_ROUND = { depth: 0.13, power: 4, reach: 1.15 } as const
/** Darkening and exponent for sleeves and for trouser legs. */
export const SLEEVE_ROUND = { depth: 0.16, power: 3 } as const
export const LEG_ROUND = { depth: 0.2, power: 4, radius: 1.08 } as const
/** Share of the distance from hip to ankle from which each leg has its own cloth, and length of the transition. */
export const LEG_FREE = { from: 0.16, over: 0.14 } as const

// The edge of a piece.

/** The soft edge of a cutout looks like fluff on a person: alpha at which cloth starts, and at which it is opaque. */
export const EDGE = { from: 0.2, to: 0.75 } as const
/** Offset in 1/255 per unit of light above 1, which makes folds visible on black cloth. */
export const BLACK_LIFT = 6
