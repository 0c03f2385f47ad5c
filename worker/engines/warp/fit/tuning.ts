/**
 * Tuned values of this stage. Body units are `BodyFrame.unit` (about a shoulder width); F is the body coordinate, 0 at the shoulder joints
 * and 1 at the hip joints; ratios have no unit. Unless noted otherwise, the values were chosen for the best result of `scripts/bench
 * quality` on the rendered figures of test/fixtures, whose true landmarks, masks and images are known. The named tests fail without the
 * value.
 */

// Rejections and warnings.

/** Accepted range of the vertical over the horizontal scale of a top. fit/upper/place.test.ts, "stretched beyond recognition". */
export const ASPECT = { min: 0.7, max: 1.4 } as const
/** Range outside which the result warns GARMENT_STRETCHED. */
export const PLAIN_ASPECT = { min: 0.85, max: 1.18 } as const
/**
 * Min distance between armpits and the photo's lower edge in body units: bare arms are drawn completely or not at all. warp-engine.test.ts,
 * "ends at the chest".
 */
export const MIN_BELOW_ARMPITS = 0.5
/**
 * Min F of the hem (1.85 at the knees) of a garment that only its outline classifies as a dress. fit/upper/place.test.ts, "covers the
 * thighs".
 */
export const DRESS_HEM = 1.5
/** Min F of the photo's lower edge for a lower garment: without the thighs the position of the legs is unknown. dress-lower.test.ts. */
export const MIN_SEEN = 1.3
/** A standing person's min thigh length as a share of the trunk, and min drop of the thigh as a share of its length. */
export const UPRIGHT = { thigh: 0.45, drop: 0.5 } as const
/** Shoulder width over trunk below which the result warns PERSON_TURNED. */
export const TURNED = 0.5
/** Symmetry of the product, 0 to 1, below which the result warns GARMENT_ASYMMETRIC. fit/upper/place.test.ts. */
export const MIN_SYMMETRY = 0.88

// The size of a top or dress.

/** Share of a flat garment's width that is visible from the front when worn around the body. */
export const WORN_WIDTH = 0.9
/**
 * Width of an average chest in body units, and max size by the chest over the size by the shoulders: the cloth of tops can be elastic.
 * fit/upper/size.test.ts.
 */
export const CHEST = { width: 1.04, most: { top: 1.15, dress: 2 } } as const
/** F range of the hem. */
export const HEM_RANGE = { top: [0.62, 1.26], dress: [1.25, 3.2] } as const
/** F of the lowest hem of a top on a seated person, whose lap hides the hem. place.test.ts, "a seated person". */
export const SEATED_HEM = 1.8
/** F by which a hem is lower than the worn hem that it covers, and max F by which it is lowered for that; always lowered to the hips. */
export const COVERING_HEM = { below: 0.035, lowered: 0.18 } as const
/** Half width over that of the body: at least `min` and `slack` body units, at most `max`. fit/upper/place.test.ts, "wraps the torso". */
export const TORSO_WIDTH = { min: 1.03, slack: 0.004, max: 1.24 } as const
/**
 * Skirt of a dress: F of the hips, min width over the hips and over the body, max width over the hips, and range of F over which it starts
 * to hang free.
 */
export const DRESS_SKIRT = { hips: 1.1, overHips: 0.9, overBody: 1.03, max: 2.2, release: 0.3 } as const
/** Straps: factor from their distance over the chest's width on the product to that over the shoulder tips', and limits of the result. */
export const STRAPS = { kept: 1.12, share: [0.3, 0.97] } as const

// The torso piece of a top or dress.

/** F range of the armpits. Without sleeves they can be slightly higher. */
export const ARMPIT = { sleeved: 0.2, sleeveless: 0.16, max: 0.5 } as const
/** Half width of the neck: min body units, max share of the shoulder span. */
export const NECK_WIDTH = { min: 0.21, max: 0.46 } as const
/** Rise of the shoulder line from tip to neck in body units if not visible. */
export const NECK_RISE = { slope: 0.17, offset: 0.02 } as const
/**
 * Hair on one side makes the mask higher there: share by which both neck corners are levelled, and weights of the lower and the higher
 * corner.
 */
export const NECK_LEVEL = { evened: 0.7, lower: 0.7, higher: 0.3 } as const
/** Height of the shoulder line's curve over its chord, relative to the product's. */
export const SHOULDER_BOW = 0.8
/** Body units by which a shoulder line is above the mask's edge, and max lift for that. */
export const SHOULDER_LIFT = { over: 0.006, max: 0.08 } as const
/** Body units by which the middle of a hem hangs: the lower half of an ellipse, as seen from chest height. */
export const HEM_SAG = 0.035

// Sleeves.

/**
 * Share of the distance from shoulder to wrist: from `from` a sleeve is long and ends at `end`; a short sleeve ends between `min` and
 * `from`.
 */
export const SLEEVE_LENGTH = { from: 0.8, end: 0.985, min: 0.16 } as const
/** Max length of a sleeve's outer edge over the distance of its ends. fit/upper/sleeve.test.ts, "jagged". */
export const MAX_SLEEVE_BEND = 1.15
/** Share of the distance from shoulder joint to tip by which a sleeve's outer edge extends over the shoulder. */
export const OVER_SHOULDER = 0.6
/** Body units by which the short sleeve of a boxy cut ends below its armhole. */
export const BELOW_ARMHOLE = 0.05
/** Visible share of a flat cuff's width from the front, and limits of the cuff's width over the arm's. */
export const CUFF_WIDTH = { seen: 0.8, min: 1.1, maxShort: 1.5, maxLong: 1.3 } as const
/** px by which a sleeve narrows on each side per px of length, below the end of a wide worn sleeve. */
export const SLEEVE_TAPER = 0.13

// Trousers and skirts.

/** Visible share of the flat width from the front: hips and legs of trousers; waist and cloth of a skirt. */
export const WORN = { hips: 0.84, leg: 0.8, skirtWaist: 0.84, skirt: 0.82 } as const
/** Width of a garment over that of the hips. */
export const OVER_HIPS = 1.03
/** Position of the hips of flat trousers: share of the distance from waistband to crotch. */
export const HIPS_ROW = 0.75
/** Body units from the hip joints down to the crotch. */
export const CROTCH = 0.4
/** Max ratio of the inseams of the two legs. fit/lower/trousers.test.ts. */
export const UNEVEN_INSEAM = 1.1
/** Min share of the inseam of trousers that reach the ankle. */
export const LONG_INSEAM = 0.86
/** Min share of the inseam of shorts. */
export const MIN_INSEAM = 0.12
/** Body units by which long trousers extend below the ankle joint onto the shoe. dress-lower.test.ts. */
export const OVER_SHOE = 0.05
/** Width of trousers over the leg's: max, shares of the excess for the outer and the inner side, and slack. */
export const LEG_WIDTH = { max: 2.4, outer: 0.6, inner: 0.45, outerSlack: 1.04, innerSlack: 1.05 } as const
/** Body units beyond a worn outer seam, and max factor by which a leg is widened to cover it. */
export const COVERING_SEAM = { over: 0.012, max: 1.22 } as const
/** F from which the width of the torso limits that of a leg less, and the F after which no more. Chosen by eye on photos of bare legs. */
export const BELOW_HIPS = { from: 1.1, over: 0.35 } as const
/** Depth of a trouser hem's curve over its width. */
export const TROUSER_SAG = 0.06
/** F of a skirt's waistband if no worn waistband is visible. */
export const NATURAL_WAIST = 0.8
/**
 * F by which a waistband covers the worn one, its F range where no worn one is higher, and the max gap between a top and the worn
 * waistband in which no skin is visible.
 */
export const WAISTBAND = { over: 0.03, min: 0.6, max: 0.88, gap: 0.05 } as const
/** Body units by which the middle of a waistband hangs. */
export const WAIST_SAG = 0.025
/** Width of an average waist over that of the hips, and distance from the waist down to the hips in trunks. */
export const WAIST = { overHips: 0.8, hipsBelow: 0.38 } as const
/** A skirt's half width over half the hip width: max for torso and cut, and max F of the torso's influence. */
export const SKIRT_WIDTH = { torso: 1.12, max: 2.3, torsoUntil: 1.25 } as const
/** Share of a leg's radius, and of the distance down the leg, from which the knees push a skirt outwards. */
export const SKIRT_KNEES = { radius: 0.75, from: 0.25 } as const
/** Share of the legs' sideways movement that a skirt follows, and range of F below the hips over which it starts. */
export const SKIRT_SWING = { share: 0.8, over: 0.5 } as const
/** Depth of a skirt hem's curve over its width, and weight of the product's own curve. */
export const SKIRT_SAG = { depth: 0.05, own: 0.6 } as const

// Worn clothes on hips and legs.

/** F from which all pixels of the person that are not skin are clothes of the legs. */
export const LEGS_FROM = 1.2
/**
 * Forearms in sleeves: F above which trousers cannot be meant, min area of cloth, and its ratio to skin; max share of a forearm's core with
 * the label of trousers. Chosen by eye on photos whose sleeves have the colour of the trousers. compose/lower/compose.test.ts, "in the colour of the worn trousers".
 */
export const SLEEVED = { until: 0.9, area: 0.005, overSkin: 3, misread: 0.25 } as const
/** Share of a row's pixels within the extent of the worn cloth: ignores single pixels outside. */
export const REACHED = 0.97

// Regions of the body.

/** Body units by which a cuff's line is moved up the arm to avoid a gap, and max slant. */
export const CUFF_LINE = { overlap: 0.03, slant: 0.12 } as const
/** Where the line from neck to shoulder tip starts: F of the throat, and half the neck's width in body units. By eye on real photos. */
export const SHOULDER_LINE = { throat: -0.16, neck: 0.17 } as const
/**
 * A bare arm that emerges from a sleeveless garment: width over the arm's at the start and its increase, and length of the transition in
 * body units.
 */
export const ARM_EMERGES = { start: 0.25, widening: 0.95, over: 0.45 } as const
/** Body units below the armpit at which a bare arm starts. */
export const BELOW_ARMPIT = 0.11
/** Widths over the radii of a bare arm and of a hand. */
export const IN_FRONT = { arm: 1.15, hand: 1.25 } as const
/** Share of the upper arm that stays in front if the arm goes behind the body. test/worker/vision/body/arm-field.test.ts. */
export const BEFORE_HIDDEN = 0.6
