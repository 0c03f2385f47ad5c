/**
 * Tuned values of this stage. Lengths are body units, areas their squares, F is the body coordinate (0 at the shoulders, 1 at the hips);
 * shares, strengths and mask values are 0 to 1. Unless noted otherwise, the values were chosen on the rendered figures of test/fixtures
 * with `scripts/bench quality`. The named tests fail without the value.
 */

/** Min change of a pixel: a smaller change is invisible in 8 bits. */
export const MIN_CHANGE = 1 / 256

// Objects in front.

/** Soft edge (sigma) of hands, arms, hair and the worn top: min px, and body units. */
export const EDGE_SOFTNESS = { min: 0.8, share: 0.004 } as const
/** Min area of an arm or hand, and of an object in front of trousers. */
export const MIN_SHOWN = { limb: 0.006, front: 0.004 } as const
/** Sigma by which the outline of an arm in front of the garment is smoothed. */
export const LIMB_OUTLINE = 0.015
/**
 * Min difference (a and b) between skin and background for a comparison by hue; and share of the distance to skin from which a pixel is
 * skin.
 */
export const HUE = { difference: 6, share: 0.35 } as const
/**
 * Gap between arm and body: max mask value; size of its cells, and of those of the arm, in body units; max ΔE of wall from the gap, and as a
 * share of its ΔE to the arm.
 */
export const GAP = { open: 0.35, detail: 0.05, arm: 0.15, difference: 7, nearer: 0.5 } as const
/** Min mask value of hair, and of a worn top in front of trousers. */
export const SURE_PERSON = 0.4
/** Slope and offset from the mask to the region that hides the inside of the back, and to the region that receives shadows. */
export const ON_PERSON = { back: [1.3, 0.15], shadow: [1.2, 0.1] } as const
/** The lap of a seated person: F from which a region labelled trousers is not a fold, min width, and max difference (ΔE, with a weight of
 * the lightness) between the worn top and its parts that hang between the thighs. */
export const LAP = { from: 0.7, width: 0.02, difference: 12, lightness: 0.3 } as const
/** Range of F below the armpit over which the torso starts to hide the sleeve of an arm behind the body. */
export const HIDDEN_OVER = 0.1

// Transition from the worn top to new trousers.

/**
 * F by which the top continues below its hem, and by which it is protected above its hem; range of F around the waistband in which the old
 * waistband is searched.
 */
export const TOP_HEM = { below: 0.045, above: 0.03, waist: 0.1 } as const
/** Max ΔE of the old waistband, and the distance by which it is extended. */
export const OLD_WAIST = { difference: 18, around: 0.02 } as const
/**
 * Min ratio of bare skin to top on forearms and hands for short sleeves: half a forearm more than a hand. compose/lower/compose.test.ts.
 */
export const BARE_FOREARMS = 2
/** Min width and area of a top that hangs over trousers. */
export const HANGING_TOP = { width: 0.015, area: 0.02 } as const

// Shadows: offset downwards, blur (sigma), and strength. occlusion-order.test.ts, "under the hem".

/** Under hems, cuffs and collar, and the wide shadow around them, limited to `max` above F `from`. */
export const CONTACT = { down: 0.012, soft: 0.009, strength: 0.55 } as const
export const AROUND = { soft: 0.0175, strength: 0.36, inside: 0.5, max: 0.5, from: -0.25 } as const
/** Shadow of the worn top on trousers, and of the hem of trousers or a skirt on the legs: near and wide. */
export const TOP_SHADE = { down: 0.014, soft: 0.016, strength: 0.4 } as const
export const HEM_SHADE = { down: 0.014, soft: 0.012, strength: 0.45 } as const
export const WIDE_HEM_SHADE = { down: 0.04, soft: 0.03, strength: 0.25 } as const
/** Share of light on the inside of the back. */
export const BACK_LIGHT = 0.8
