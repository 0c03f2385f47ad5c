/**
 * Tuned values of this stage. Body units are `BodyFrame.unit` (about a shoulder width); F is the body coordinate, 0 at the shoulder joints
 * and 1 at the hip joints; ratios have no unit. Unless a line says otherwise a value was chosen on the rendered figures of test/fixtures,
 * whose true landmarks, masks and pictures are known, so that `scripts/bench quality` came out best; a test that is named fails without it.
 */

// Refusals and warnings.

/** Vertical over horizontal scale of a top, between which it is not refused. fit/upper/place.test.ts, "stretched beyond recognition". */
export const ASPECT = { min: 0.7, max: 1.4 } as const
/** The same, outside of which the result warns GARMENT_STRETCHED. */
export const PLAIN_ASPECT = { min: 0.85, max: 1.18 } as const
/** Body units between armpits and the photo's lower edge: bare arms are drawn whole or not at all. warp-engine.test.ts, "ends at the chest". */
export const MIN_BELOW_ARMPITS = 0.5
/** F (1.85 at the knees) down to which something nobody calls a dress must reach to be one. fit/upper/place.test.ts, "covers the thighs". */
export const DRESS_HEM = 1.5
/** F down to which the photo must reach for a lower garment: without the thighs nothing shows where the legs are. dress-lower.test.ts. */
export const MIN_SEEN = 1.3
/** A thigh shorter than this share of the trunk, or that drops less than this share of its own length, is a seated person's. */
export const UPRIGHT = { thigh: 0.45, drop: 0.5 } as const
/** Shoulder width over trunk below which the result warns PERSON_TURNED. */
export const TURNED = 0.5
/** Likeness of the product's two halves, 0 to 1, below which the result warns GARMENT_ASYMMETRIC. fit/upper/place.test.ts. */
export const MIN_SYMMETRY = 0.88

// The size of a top or dress.

/** A flat garment lies around the body when worn: the share of its width that is seen from the front. */
export const WORN_WIDTH = 0.9
/** F between which a hem may lie. */
export const HEM_RANGE = { top: [0.62, 1.26], dress: [1.25, 3.2] } as const
/** F of the lowest hem of a top on a seated person, whose lap hides it: nothing is gained by a shorter one. place.test.ts, "a seated person". */
export const SEATED_HEM = 1.8
/** F by which a hem is lower than the worn one that it covers, and by which it may be lowered for that, but always down to the hips. */
export const COVERING_HEM = { below: 0.035, lowered: 0.18 } as const
/** Half width over the body's: at least `min` and `slack` body units, at most `max`. fit/upper/place.test.ts, "wraps the torso". */
export const TORSO_WIDTH = { min: 1.03, slack: 0.004, max: 1.24 } as const
/** Worn sides up to `seen` times as wide as the garment are covered, `over` body units beyond them, by widening it up to `max` times. */
export const COVERING_SIDES = { seen: 1.45, over: 0.012, max: 1.28 } as const
/** A dress's skirt: F of the hips, its least width over theirs and over the body, its greatest over theirs, and the F over which it falls free. */
export const DRESS_SKIRT = { hips: 1.1, overHips: 0.9, overBody: 1.03, max: 2.2, release: 0.3 } as const
/** Straps: their distance over the chest's width on the product, how much of it is kept between the shoulder tips, and the limits of that. */
export const STRAPS = { apart: [0.25, 0.95], kept: 1.12, share: [0.3, 0.97] } as const
/** Body units: from where, how far at most, and between which heights the shoulder's edge is looked for above a strap. */
export const STRAP_TOP = { from: 0.12, reach: 0.45, height: [0.04, 0.3] } as const

// The torso piece of a top or dress.

/** F between which armpits lie; without sleeves they may be a little higher, and the armhole is a little narrower than the body. */
export const ARMPIT = { sleeved: 0.2, sleeveless: 0.16, max: 0.5, narrower: 0.97 } as const
/** Half the neck's width: body units at least, share of the shoulders' span at most. */
export const NECK_WIDTH = { min: 0.21, max: 0.46 } as const
/** Rise of the shoulder line from tip to neck, in body units where it is not seen, and its limits over that. */
export const NECK_RISE = { slope: 0.17, offset: 0.02, min: 0.3, max: 1.25 } as const
/** Hair on one side makes the mask higher there: how far both neck corners are drawn to one level, and how far that is the lower and the higher one's. */
export const NECK_LEVEL = { evened: 0.7, lower: 0.7, higher: 0.3 } as const
/** Height of the shoulder line's bow over its chord, over the product's. */
export const SHOULDER_BOW = 0.8
/** Body units by which a shoulder line lies above the mask's edge, and by which it is lifted for that at most. */
export const SHOULDER_LIFT = { over: 0.006, max: 0.08 } as const
/** Heights over the chord, in its lengths, by which two armholes of one garment may differ. fit/upper/place.test.ts, "crooked". */
export const MAX_UNEVEN = 0.04
/** Body units by which the middle of a hem hangs: seen from chest height it is the lower half of an ellipse. */
export const HEM_SAG = 0.035
/** Body units by which the middle of the chest shifts on a person who is fully turned. */
export const TURN_SHIFT = 0.1

// Sleeves.

/** Share of the way from shoulder to wrist: from `from` on a sleeve is long and ends at `end`; a short one ends between `min` and `from`. */
export const SLEEVE_LENGTH = { from: 0.8, end: 0.985, min: 0.16 } as const
/** Share of the way from shoulder joint to tip that a sleeve's outer edge runs over the shoulder. */
export const OVER_SHOULDER = 0.6
/** Body units by which the short sleeve of a boxy cut ends below its armhole. */
export const BELOW_ARMHOLE = 0.05
/** Width of a flat cuff that is seen from the front, and the cuff's width over the arm's. */
export const CUFF_WIDTH = { seen: 0.8, min: 1.1, maxShort: 1.5, maxLong: 1.3 } as const
/** px by which a sleeve gets narrower on each side for a px of its length, where a wide worn sleeve ends above its cuff. */
export const SLEEVE_TAPER = 0.13

// Trousers and skirts.

/** What is seen from the front of the flat hips and legs of trousers, and of the waist and the cloth of a skirt. */
export const WORN = { hips: 0.84, leg: 0.8, skirtWaist: 0.84, skirt: 0.82 } as const
/** Width of a garment over that of the hips below it. */
export const OVER_HIPS = 1.03
/** Where the hips of flat trousers are: share of the way from waistband to crotch. */
export const HIPS_ROW = 0.75
/** Body units from the hip joints down to the crotch. */
export const CROTCH = 0.4
/** Trousers of any size reach the ankle from this share of the inseam on. */
export const LONG_INSEAM = 0.86
/** Shorts have at least this share of the inseam. */
export const MIN_INSEAM = 0.12
/** Body units by which long trousers break on the shoe, below the ankle joint. dress-lower.test.ts. */
export const OVER_SHOE = 0.05
/** Width of trousers over the leg's: limits, and how much of what is beyond 1 goes to the outer and the inner side. */
export const LEG_WIDTH = { max: 2.4, outer: 0.6, inner: 0.45, outerSlack: 1.04, innerSlack: 1.05 } as const
/** Body units over a worn outer seam, and how much wider than natural a leg becomes to cover it. */
export const COVERING_SEAM = { over: 0.012, max: 1.22 } as const
/** Depth of a trouser hem's bow over its width. */
export const TROUSER_SAG = 0.06
/** F of a skirt's waistband where no worn one is seen. */
export const NATURAL_WAIST = 0.8
/** F by which a waistband covers the worn one, and the F between which it lies. */
export const WAISTBAND = { over: 0.03, min: 0.6, max: 0.88 } as const
/** Body units by which the middle of a waistband hangs. */
export const WAIST_SAG = 0.025
/** Width of an average waist over the hips', and how far below it they lie, in trunks. */
export const WAIST = { overHips: 0.8, hipsBelow: 0.38 } as const
/** A skirt's half width over half the hips': limits of what the torso and the cut ask for, and the F down to which the torso counts. */
export const SKIRT_WIDTH = { torso: 1.12, max: 2.3, torsoUntil: 1.25 } as const
/** Share of a leg's radius, and of the way down it, from which the knees push a skirt outwards. */
export const SKIRT_KNEES = { radius: 0.75, from: 0.25 } as const
/** How far a skirt's middle follows the legs', and the F below the hips over which that begins. */
export const SKIRT_SWING = { share: 0.8, over: 0.5 } as const
/** Depth of a skirt hem's bow over its width, and how much of the product's own bow is kept. */
export const SKIRT_SAG = { depth: 0.05, own: 0.6 } as const

// What hips and legs wear.

/**
 * F of a dress's chest and thighs, X of its middle, and the ΔE between both up to which they are one cloth: at most 6 on seven real dresses,
 * at least 15 on six tops over trousers or skirts. fit/lower/worn-dress.test.ts.
 */
export const DRESS_CLOTH = { chest: [0.4, 0.8], thighs: [1.2, 1.5], across: 0.3, difference: 9 } as const

/** F from which a person's pixels that are not skin are clothes of the legs, whatever colour they have. */
export const LEGS_FROM = 1.2
/** Share of the way from hip to ankle from which shoes may begin. dress-lower.test.ts, "above the shoes". */
export const SHOES_FROM = 0.86
/** ΔE up to which a pixel is like the cloth, and how much nearer to its tint (a and b) than to the shoes' a dark pixel must be. */
export const CLOTH_LIKENESS = { difference: 16, tint: 4 } as const
/** Share of a row's pixels that lie within the worn cloth's reach: single ones outside are no cloth. */
export const REACHED = 0.97

// The regions of the body.

/** Body units by which a cuff's line goes up the arm, so that no gap opens, and within which it may be slanted. */
export const CUFF_LINE = { overlap: 0.03, slant: 0.12 } as const
/** Hair below the chin: body units of a strand and of a thick one, ΔE from the hair above of what is strange and what is none, least area of a collar. */
export const HAIR = { strand: 0.02, thick: 0.015, strange: 16, other: 32, collar: 0.01 } as const
/** A bare arm comes out from behind a garment without sleeves: width over the arm's at its start and full, and body units in between. */
export const ARM_EMERGES = { start: 0.25, widening: 0.95, over: 0.45 } as const
/** Where that begins: body units below the armpit, and share of the upper arm at least. */
export const BARE_FROM = { belowArmpit: 0.11, upperArm: 0.35 } as const
/** Width of a bare arm and of a hand over their radii; spread fingers reach further out than the palm. */
export const IN_FRONT = { arm: 1.15, hand: 1.25, fingers: 2.2, foldedForearm: 1.1 } as const
/** Distance to the other forearm's bone, over its radius, outside of which fingers are sure, and inside of which they are not. */
export const FINGERS_ON_ARM = { outside: 1.15, inside: 0.6 } as const
/** What leads behind the body stays in front down to this share of the upper arm. test/worker/body/arm-field.test.ts. */
export const BEFORE_HIDDEN = 0.6
