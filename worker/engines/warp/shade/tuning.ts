/**
 * Tuned values of this stage. L, a and b are CIE Lab; ΔE is CIE 1976; lengths are body units; factors and shares have no unit. Unless a line
 * says otherwise a value was chosen on the rendered figures of test/fixtures with `scripts/bench quality`; a test that is named fails without it.
 */

/** Mean ΔE by which shading may change the product's colour: beyond it all shading is weakened. shade/upper.test.ts, "harsh light". */
export const MAX_DIFFERENCE = 4.5

// The light on the worn cloth.

/** Blurs (sigma) of lightness: one that shows single folds, one that levels them, and one that levels the garment. */
export const LIGHT_SIGMA = { fold: 0.012, level: 0.1, scene: 0.45 } as const
/** How far a fold and a large shadow may lighten or darken. */
export const LIGHT_LIMITS = { fold: [0.6, 1.5], scene: [0.75, 1.25] } as const
/** L that is added before two are divided, so that black cloth does not flicker. */
export const DARK_OFFSET = 8
/** Share of a large shadow that is carried over where folds are seen, and where they are not, by `folds` of their depth. */
export const SCENE_DEPTH = { folded: 0.45, plain: 0.2, folds: 0.1 } as const
/** Where the worn cloth is believed: the blur (sigma) of its mask, and the line from there to the belief. */
export const BELIEF = { sigma: 0.02, slope: 1.6, offset: 0.4 } as const
/** Depth of folds that are carried over: at most `max`, less with deviation of L (pattern) and on black cloth. "stripes", "black cloth". */
export const FOLD_DEPTH = { max: 0.55, deviation: [1.35, 7], black: [12, 28] } as const
/** What is print and no light: tint and L away from the garment's median and L from its surroundings; and blurs and share to leave around it. */
export const PRINT = { tint: 9, local: 7, lightness: 24, localSigma: 0.02, sigma: 0.015, share: 0.25 } as const

// The roundness of the body.

/** How much darker cloth is at the torso's rim, which power of the way there counts, and how far beyond the rim that goes on. */
export const TORSO_ROUND = { depth: 0.13, power: 4, reach: 1.15 } as const
/** The same for sleeves and for the legs of trousers. */
export const SLEEVE_ROUND = { depth: 0.16, power: 3 } as const
export const LEG_ROUND = { depth: 0.2, power: 4, radius: 1.08 } as const
/** Share of the way from hip to ankle from which each leg has cloth of its own, and over which that begins. */
export const LEG_FREE = { from: 0.16, over: 0.14 } as const

// The edge of a piece.

/** A cut-out's soft edge looks like fluff on a person: the alpha from which cloth begins, and from which it is full. */
export const EDGE = { from: 0.2, to: 0.75 } as const
/** Values of 255 that are added per unit of light above 1, so that black cloth shows folds. */
export const BLACK_LIFT = 6
