/**
 * Tuned values of this stage. Lengths are body units, areas their squares, F is the body coordinate (0 at the shoulders, 1 at the hips); shares,
 * strengths and values of the mask are 0 to 1. Unless a line says otherwise a value was chosen on the rendered figures of test/fixtures with
 * `scripts/bench quality`; a test that is named fails without it.
 */

/** A change below this share of a pixel is none: it could not be seen in 8 bits. */
export const MIN_CHANGE = 1 / 256

// What lies in front.

/** Softness (sigma) of the edge of hands, arms, hair and the worn top: in px at least, and in body units. */
export const EDGE_SOFTNESS = { min: 0.8, share: 0.004 } as const
/** How far the worn garment's colour is mixed into the edge of what lies before it, and into that of hair. */
export const MIXING_REACH = { limb: 0.015, hair: 0.02 } as const
/** Areas below which skin is no arm or hand, and what lies before trousers is none; the width of gaps that an arm closes. */
export const MIN_SHOWN = { limb: 0.006, front: 0.004 } as const
export const ARM_GAP = 0.025
/** Hue is compared from this difference (a and b) of skin and background on, and this share of the way to the skin is skin. */
export const HUE = { difference: 6, share: 0.35 } as const
/** Where hands begin: body units before the wrist below a long sleeve, and share of the forearm else. */
export const HAND_FROM = { sleeved: 0.02, bare: 0.1 } as const
/** Value of the mask above which hair, and a worn top before trousers, is the person's. */
export const SURE_PERSON = 0.4
/** How the mask becomes what hides the inside of the back, and what a shadow falls on: slope and offset. */
export const ON_PERSON = { back: [1.3, 0.15], shadow: [1.2, 0.1] } as const
/** The lap of a seated person: F from which what passes for trousers is no fold, least width, and how little (ΔE, with a share of the lightness) the
 * worn top differs from what of it hangs between the thighs. */
export const LAP = { from: 0.7, width: 0.02, difference: 12, lightness: 0.3 } as const
/** F below the armpit over which the torso begins to hide the sleeve of an arm that is behind the body. */
export const HIDDEN_OVER = 0.1

// Where the worn top meets new trousers.

/** F by which the top goes on below its hem, and stays above it; F around the waistband within which the old one is looked for. */
export const TOP_HEM = { below: 0.045, above: 0.03, waist: 0.1 } as const
/** ΔE up to which something there is the old waistband, and how far around it that goes. */
export const OLD_WAIST = { difference: 18, around: 0.02 } as const
/** Skin of forearms and hands, over what looks like the top there, from which on sleeves are short: half a forearm more than a hand. compose/lower/compose.test.ts. */
export const BARE_FOREARMS = 2
/** Least width and area of a top that hangs over trousers. */
export const HANGING_TOP = { width: 0.015, area: 0.02 } as const

// Shadows: how far down they are moved, their softness (sigma), and how strong they are. occlusion-order.test.ts, "under the hem".

/** Under hems, cuffs and collar, and the wide darkening around them, which counts to `most` above F `from`. */
export const CONTACT = { down: 0.012, soft: 0.009, strength: 0.55 } as const
export const AROUND = { soft: 0.0175, strength: 0.36, inside: 0.5, most: 0.5, from: -0.25 } as const
/** Shadows on sleeves and on arms are weaker than on the torso. */
export const SLEEVE_CONTACT = 0.6
export const ARM_SHADE = { down: 0.01, soft: 0.02, strength: 0.25 } as const
/** Of a sleeve on the torso: F above the armpit from which it hangs free, and over which that begins. */
export const SLEEVE_SHADE = { soft: 0.015, strength: 0.2, above: 0.1, over: 0.12 } as const
/** Of the worn top on trousers, and of the hem of trousers or skirt on legs: near and wide. */
export const TOP_SHADE = { down: 0.014, soft: 0.016, strength: 0.4 } as const
export const HEM_SHADE = { down: 0.014, soft: 0.012, strength: 0.45 } as const
export const WIDE_HEM_SHADE = { down: 0.04, soft: 0.03, strength: 0.25 } as const
/** Share of its light that the inside of the back shows. */
export const BACK_LIGHT = 0.8

// Edges that are mixed with the worn garment's colour.

/** ΔE of the two colours below which a mixture cannot be separated; shares of the way between them that are all cloth, and over which that ends. */
export const MATTE = { difference: 14, from: 0.25, over: 0.5, inside: 1.5 } as const

// Grain of what was invented. compose/grain.test.ts.

/** A camera's noise (standard deviation in 8 bits); less is not seen, more is texture, which single pixels cannot imitate. */
export const GRAIN = { min: 0.4, max: 5 } as const
/** Values of the person's mask below which a pixel is background, and share of an invented pixel from which it gets grain. */
export const GRAIN_FROM = { background: 0.02, share: 0.05 } as const
