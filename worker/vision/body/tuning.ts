/**
 * Tuned values of the body measurements. Body units are `BodyKeypoints.unit` (about a shoulder width); F is the body coordinate, 0 at the
 * shoulder joints and 1 at the hip joints. Average proportions are those of the rendered figures of test/fixtures, whose bones are known;
 * the other values were chosen on those figures with `scripts/bench quality`. The named tests fail without the value.
 */

// Refusals.

/** Min visibility of a visible shoulder, 0 to 1. body-frame.test.ts, "hidden". */
export const MIN_VISIBLE = 0.5
/**
 * Min shoulder distance over trunk; below this value the person is turned too far for a flat garment. body-frame.test.ts, "to the side".
 */
export const MIN_SHOULDERS = 0.4
/** Max depth between the shoulders, in shoulder distances of the image (about 68°). warp-engine.test.ts, "from the side". */
export const MAX_DEPTH = 2.5

/**
 * Max distance of the knees below the hips of a seated person, in trunks: about 0.9 for standing people. place.test.ts, "a seated person".
 */
export const SEATED_KNEES = 0.6

// Proportions of the trunk.

/** Min body unit as a share of the trunk. */
export const MIN_UNIT = 0.55
/** Shoulder distance over trunk of an average person seen from the front, and the max foreshortening by a turn that is accepted. */
export const FRONTAL = { shoulders: 0.67, maxForeshortened: 1.25 } as const
/** Depth between the shoulders over their distance in the image, from which a person counts as turned, and as fully turned. */
export const TURN = { from: 0.6, full: 1.2 } as const
/** Body units of an average torso's half width by F. */
export const EXPECTED_TORSO = {
  fractions: [0.1, 0.3, 0.75, 1, 1.2, 1.7],
  halfWidths: [0.5, 0.52, 0.47, 0.51, 0.52, 0.5],
} as const
/** Weight of a row that ends at an arm and so gives only a minimum width. A row that ends at the edge of the mask weighs 1. */
export const ARM_WEIGHT = 0.35
/** F of the hips; limits of the hip width over the distance of the hip joints; and in body units. */
export const HIPS = { at: 1.1, min: 1.5, max: 2.2, units: 0.9 } as const

// Shoulders and arms.

/** Wrist and knuckles of a straight arm, in upper arms from the shoulder. Used if they are outside the photo. */
export const STRAIGHT = { wrist: 1.88, knuckles: 2.15 } as const
/** Min presence of a landmark in the photo, 0 to 1. */
export const MIN_PRESENT = 0.5
/** Radius of the arm in body units: expected if it is not visible, and limits. */
export const ARM_RADIUS = { expected: 0.15, min: 0.12, max: 0.22 } as const
/**
 * Distance of the shoulder tip from the joint in body units: expected if it is not visible, and limits; and its angle from straight up for
 * a hanging arm.
 */
export const SHOULDER_TIP = { expected: 0.15, min: 0.06, max: 0.26, angle: 0.42 } as const
/**
 * Angle from straight down from which a raised arm moves the shoulder tip towards the neck, and the share of the arm's angle by which it
 * moves.
 */
export const RAISED = { from: Math.PI / 3, taken: 0.5 } as const
/** Radius of an average arm over that of the upper arm, by share of the distance from shoulder to wrist. */
export const EXPECTED_ARM = { shares: [0, 0.25, 0.5, 0.62, 1], radii: [1.05, 1, 0.9, 0.85, 0.62] } as const
/**
 * Radius of a bare arm over the measured radius at shoulder, end of the deltoid, elbow, wrist and end of the hand; and position of the
 * deltoid's end on the upper arm.
 */
export const BARE_ARM = { radii: [1.12, 1.01, 0.9, 0.64, 0.9], deltoid: 0.45 } as const
/** Radius of the bare arm in body units: min, max if measured, max if unknown. */
export const BARE_RADIUS = { min: 0.09, max: 0.19, maxUnknown: 0.15 } as const
/** Length in body units by which long sleeves extend past the wrist. */
export const CUFF = 0.12
/**
 * Max share of the hand that a sleeve covers, and length in body units of the rim of a cuff. remove/upper/remove.test.ts, "wide cuff".
 */
export const SLEEVE_ON_HAND = 0.6
export const CUFF_RIM = 0.06
/**
 * An arm behind the body: min distance in body units by which the wrist is behind the shoulder, and max share of skin around its hand.
 * arm-field.test.ts.
 */
export const BEHIND = { depth: 0.2, skin: 0.3 } as const
/**
 * Forearms and hands: radius, and radius of what is certainly forearm, over the arm radius; end of the fingers in multiples of the
 * distance from wrist to knuckles.
 */
export const FOREARM = { radius: 1.3, core: 0.65, fingers: 2.3 } as const
/**
 * Bare skin behind a hand: share of a pixel below which it is not the hand; max distance of the hand's wrist from the arm's, in body units;
 * radius of a hand with its fingers, and of the region around it, over the arm radius; end of the fingers in multiples of the distance from
 * wrist to knuckles; and end of the forearm as a share of it. bare-body.test.ts.
 */
export const BESIDE_HAND = { share: 0.2, wrist: 0.3, hand: 1.5, around: 2.2, fingers: 2.3, forearm: 0.95 } as const

// Legs.

/**
 * Radius in body units of an average clothed and of an average bare leg, by share of the distance from hip to ankle. leg-profile.test.ts.
 */
export const EXPECTED_LEG = { shares: [0, 0.15, 0.5, 0.6, 1], radii: [0.34, 0.3, 0.19, 0.19, 0.12] } as const
export const EXPECTED_BARE_LEG = {
  shares: [0, 0.15, 0.3, 0.5, 0.62, 0.8, 1],
  radii: [0.27, 0.255, 0.22, 0.155, 0.155, 0.115, 0.085],
} as const
/** Limits of the measured radius over the expected radius: min, max, and max for a skirt or shorts, which hide the leg. */
export const LEG_RATIO = { min: 0.55, max: 1.35, loose: 1.08 } as const
/** Length of thigh and of shin in trunks. Used if they leave the photo. leg-profile.test.ts, "outside of the photo". */
export const LEG_BONE = 0.85
/** Body units by which trousers extend below the ankle joints, and around the bones of a leg. */
export const LEG_REACH = { foot: 0.2, around: 0.6 } as const

// The head.

/** Half axes of a face with ears in eye widths, and length of the jaw below the mouth in multiples of the distance from nose to mouth. */
export const HEAD = { wide: 1.05, high: 1.3, jaw: 0.95 } as const

// Top and lower garment.

/** F that divides a dress into a top and a lower garment. */
export const DRESS_WAIST = 0.8
/** Radius of a dress's sleeve over that of the arm. parts.test.ts, "sleeves of a dress". */
export const DRESS_SLEEVE = 1.3
/** F of the neck and the upper chest. */
export const NECK = [-0.35, 0.35] as const
