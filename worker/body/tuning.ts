/**
 * Tuned values of what describes a person. Body units are `BodyKeypoints.unit` (about a shoulder width); F is the body coordinate, 0 at the shoulder
 * joints and 1 at the hip joints. Average proportions are those of the rendered figures of test/fixtures, whose bones are known; the other
 * values were chosen on those figures with `scripts/bench quality`. A test that is named fails without the value.
 */

// Refusals.

/** Visibility of a shoulder, 0 to 1, below which it is hidden. body-frame.test.ts, "hidden". */
export const MIN_VISIBLE = 0.5
/** Shoulder distance over trunk below which the chest is seen too much from the side for a flat garment. body-frame.test.ts, "to the side". */
export const MIN_SHOULDERS = 0.4
/** Shoulder distances of the picture by which one shoulder may lie behind the other (about 68°). warp-engine.test.ts, "from the side". */
export const MAX_DEPTH = 2.5

/** How far below the hips the knees of a seated person lie at most, in trunks: about 0.9 on standing people. place.test.ts, "a seated person". */
export const SEATED_KNEES = 0.6

// Proportions of the trunk.

/** The unit is the shoulder width, but at least this share of the trunk. */
export const MIN_UNIT = 0.55
/** Shoulder distance of an average person seen from the front over the trunk, and the most that turning is believed to take. */
export const FRONTAL = { shoulders: 0.67, maxForeshortened: 1.25 } as const
/** Depth between the shoulders over their distance in the picture, from which a person counts as turned, and as fully turned. */
export const TURN = { from: 0.6, full: 1.2 } as const
/** Body units of an average torso's half width by F. */
export const EXPECTED_TORSO = {
  fractions: [0.1, 0.3, 0.75, 1, 1.2, 1.7],
  halfWidths: [0.5, 0.52, 0.47, 0.51, 0.52, 0.5],
} as const
/** Weight of a row that ends at an arm: it only says that the torso is at least that wide; one that leaves the mask shows its edge and weighs 1. */
export const ARM_WEIGHT = 0.35
/** F of the hips; their width over the distance of the hip joints, and in body units, within which it is believed. */
export const HIPS = { at: 1.1, min: 1.5, max: 2.2, units: 0.9 } as const

// Shoulders and arms.

/** An arm's wrist and knuckles on a straight arm, in upper arms from the shoulder: where they are outside of the photo. */
export const STRAIGHT = { wrist: 1.88, knuckles: 2.15 } as const
/** Presence of a landmark, 0 to 1, below which it is outside of the photo. */
export const MIN_PRESENT = 0.5
/** Body units of the arm's radius: where it is not seen, and its limits. */
export const ARM_RADIUS = { expected: 0.15, min: 0.12, max: 0.22 } as const
/** Body units from the shoulder joint to its tip where that is not seen and its limits, and its angle from straight up when the arm hangs. */
export const SHOULDER_TIP = { expected: 0.15, min: 0.06, max: 0.26, angle: 0.42 } as const
/** Angle from straight down from which an arm takes the shoulder's tip along, towards the neck, and by which share of its own way. */
export const RAISED = { from: Math.PI / 3, taken: 0.5 } as const
/** Radius of an average arm over the upper arm's, by share of the way from shoulder to wrist. */
export const EXPECTED_ARM = { shares: [0, 0.25, 0.5, 0.62, 1], radii: [1.05, 1, 0.9, 0.85, 0.62] } as const
/** Radius of a bare arm over the measured one: shoulder, deltoid's end, elbow, wrist; and where the deltoid ends on the upper arm. */
export const BARE_ARM = { radii: [1.12, 1.01, 0.9, 0.64], deltoid: 0.45 } as const
/** Body units of the bare arm's radius: at least, at most where it is measured, at most where it is not; and how much thicker one arm may be. */
export const BARE_RADIUS = { min: 0.09, max: 0.19, maxUnknown: 0.15, uneven: 1.2 } as const
/** Body units by which long sleeves reach over the wrist. */
export const CUFF = 0.12
/** An arm behind the body: body units by which the wrist is further away than the shoulder, and share of skin around its hand. arm-field.test.ts. */
export const BEHIND = { depth: 0.2, skin: 0.3 } as const
/** Forearms and hands: radius over the arm's, and the fingers' end in ways from wrist to knuckles. */
export const FOREARM = { radius: 1.3, fingers: 2.3 } as const

// Legs.

/** Body units of an average clothed and of an average bare leg, by share of the way from hip to ankle. leg-profile.test.ts. */
export const EXPECTED_LEG = { shares: [0, 0.15, 0.5, 0.6, 1], radii: [0.34, 0.3, 0.19, 0.19, 0.12] } as const
export const EXPECTED_BARE_LEG = {
  shares: [0, 0.15, 0.3, 0.5, 0.62, 0.8, 1],
  radii: [0.27, 0.255, 0.22, 0.155, 0.155, 0.115, 0.085],
} as const
/** Measured over expected radius that is believed: at least, at most, and at most where skirt or shorts show little of the leg. */
export const LEG_RATIO = { min: 0.55, max: 1.35, loose: 1.08 } as const
/** Length of thigh and of shin in trunks, where they leave the photo. leg-profile.test.ts, "outside of the picture". */
export const LEG_BONE = 0.85
/** Body units that trousers reach below the ankle joints, and around a leg's bones. */
export const LEG_REACH = { foot: 0.2, around: 0.6 } as const

// The head.

/** Half axes of a face with its ears in eye widths, and ways from nose to mouth that its jaw goes on below. */
export const HEAD = { wide: 1.05, high: 1.3, jaw: 0.95 } as const

// Top and lower garment.

/**
 * Where the lower garment’s upper edge is looked for: F of thighs that hardly any top covers, the first F, F of a row, the count of
 * rows, and X of the middle that is looked at. A pixel whose costs as top and as lower garment differ by `sure` counts whole; costs over
 * `strange` count as that. `clear` is the mean of all pixels on either side of the row, −1 to 1, and the sum of both, from which it
 * parts two garments: right on 24 of 39 photos and null on the others. parts.test.ts, "high waist", "a band along the hem".
 */
export const WAISTLINE = {
  thighs: [1.2, 1.5],
  from: 0.45,
  step: 0.025,
  rows: 36,
  across: 0.25,
  sure: 20,
  strange: 40,
  clear: { each: 0.03, both: 0.5 },
} as const
/** F at which the lower garment begins where nothing parts it from the top. */
export const WAIST_EXPECTED = 0.8
