/**
 * Tuned values of this stage. F is the body coordinate along the body (0 at the shoulders, 1 at the hips), X across it in body units; lengths
 * are body units and areas their squares; L, a and b are CIE Lab, ΔE is CIE 1976. Unless a line says otherwise a value was chosen on the
 * rendered figures of test/fixtures, whose true parts and pictures are known, with `scripts/bench quality`; a test that is named fails without it.
 */

// Refusals and warnings; all are areas.

/** Trousers invented below a short top: more is refused, and much less where nothing is seen of them. remove/upper/remove.test.ts, "long coat", "half of a coat". */
export const MAX_BELOW_HEM = { known: 0.85, unknown: 0.06 } as const
/** Skin that is invented although arms and neck do not show what it looks like. remove/upper/remove.test.ts, "no skin is seen"; remove/lower/remove.test.ts. */
export const MAX_WITHOUT_SKIN = 0.15
/** Skin in place of a garment of its colour: where that ends cannot be seen. remove/upper/worn-mask.test.ts, "cream roll-neck". */
export const MAX_OF_SKIN_COLOUR = 0.1
/** Tint and L by which such a garment differs from skin. remove/upper/worn-mask.test.ts, "brown top". */
export const SKIN_COLOURED = { tint: 7, lightness: 16 } as const
/** Background in place of clothes from which on they stand off and do not show the body's shape. */
export const MAX_BULK = 0.12
/** OLD_GARMENT_LONGER, LARGE_SKIN_INVENTED, LARGE_BACKGROUND_INVENTED (beside the upper body and beside legs), OLD_GARMENT_REMAINS. */
export const WARNED = { longer: 0.06, skin: 0.45, background: 0.12, besideLegs: 0.35, remains: 0.02 } as const
/** Less than this is not worth a fill: lower garment, skin, and all that is worn on the legs. */
export const MIN_FILLED = { lower: 0.004, skin: 0.002, legs: 0.002 } as const
/** What must be seen of a lower garment to continue it. */
export const MIN_LOWER_SEEN = 0.02

// What is worn on the upper body.

/** F above which nothing is a top; patches smaller than `area` are shadows on skin; gaps up to `gap` are closed. */
export const TOP = { until: 1.6, area: 0.015, gap: 0.03, shaded: 0.07, lowerFrom: 0.9 } as const
/** The neck's own middle (half of it in X) and the F between which collars are looked for. worn-mask.test.ts, "inside of its collar". */
export const COLLAR = { middle: 0.14, from: -0.45, until: 0.1, skinUntil: 0.02, near: 0.1 } as const
/** F between which something may be as dark as a collar's inside, L and ΔE by which it differs from the neck, and its share that must be inside. */
export const COLLAR_SHADE = { from: -1.2, until: 0.3, darker: 6, difference: 14, inside: 0.6 } as const
/** A sleeve: share of an arm that is cloth, how far it may go on beyond what is sure, and its width over the arm's. */
export const SLEEVE = { cloth: 0.3, beyond: 0.16, width: 1.15 } as const
/** The inside of a wide cuff: share of the way to the wrist from which sleeves have one, length, width over the arm's, L over the cloth's, tint. */
export const CUFF_INSIDE = { from: 0.8, length: 0.2, width: 1.8, darker: 0.85, tint: 9 } as const
/** ΔE from the cloth up to which a pixel outside of a sure mask is cloth. */
export const STRANGER = 20
/** How far cloth goes beyond the mask: surely, where it looks like cloth (up to this ΔE), and its rim. */
export const OVER_EDGE = { sure: 0.018, alike: 0.06, difference: 12, rim: 0.01 } as const
/** F above which only collars and raised arms wear a garment, and X and F within which collars are. */
export const HIGHEST = { body: -0.14, collarAcross: 0.35, collar: -0.5, raisedWidth: 1.4 } as const
/** How deep inside the mask cloth is no background, and ΔE up to which it looks like that elsewhere. */
export const BACKGROUND_LIKE = { deep: 0.06, difference: 8 } as const

// The shadow of a worn cuff on a bare arm. remove/upper/remove.test.ts, "rounds an invented forearm".

/** How far along the arm it is looked for, how much of the arm beyond gives its tone, and L by which it is darker. */
export const CUFF_SHADOW = { before: 0.05, beyond: 0.14, toneUntil: 0.4, darker: 9, width: 1.25 } as const

// What takes the place of the worn garment.

/** Half a neck's width, half of it where it has become shoulders, its share of the distance of the ears, and F between which it widens. */
export const NECK = { least: 0.15, most: 0.2, perEar: 0.44, root: 0.35, from: -0.17, until: -0.02, top: -0.5 } as const
/** F and shares of the torso's half width within which the body is. */
export const TORSO = { until: 1.2, chest: 0.35, belowChest: 0.88, background: 1.25 } as const
/** F by which the lower garment begins above the new hem, where it ends, its half width over the torso's, and how far an old hem's shadow goes. */
export const BELOW_HEM = { above: 0.03, until: 1.7, width: 1.12, shadow: 0.07 } as const
/** Radius over the bare arm's within which an arm is undressed: beside the garment, and before it, where that begins over a length. */
export const UNDRESSED = { beside: 1.3, before: 0.8, over: 0.25 } as const
/** How far around what was removed a shadow on the wall is looked for; L by which it is darker; tint up to which it is the wall's. */
export const CAST_SHADOW = { near: 0.04, darker: [2, 25], tint: 6 } as const
/** How far a garment may be drawn beyond its own edge to cover the old one: torso, sleeves, at the neck. */
export const HUG = { torso: 0.06, sleeve: 0.05, neck: 0.02, tongue: 0.04 } as const
/** Thickness of a strip from which it is a lump when its area is less than `length` times its thickness squared. worn-mask.test.ts, "lump". */
export const LUMP = { thick: 0.02, length: 4 } as const

// The background.

/** Distance from the person, whose mask is not sure, from which on the photo is background: around, and along rows beside legs. */
export const BACKGROUND_MARGIN = { around: 0.04, rows: 0.05 } as const
/** Value of the mask from which on a pixel may be the person's. */
export const MAYBE_PERSON = 0.08
/** px at either end of a gap that give a row's colours. remove/lower/background.test.ts. */
export const ROW_ENDS = 5
/** Rounds of relaxation of the background. */
export const BACKGROUND_ROUNDS = 40

// Invented skin of the upper body.

/** Areas: what gives a tone, and what is more than a chin: half a hand, half a neck. */
export const SKIN_SEEN = { tone: 0.004, body: 0.03 } as const
/** Tint and L by which skin may differ from the face's, and px by which it must be inside of its border. */
export const FACE_TONE = { tint: 12, lightness: 40, inside: 2.5 } as const
/** Shares of the tones, by L, that are left out at the dark end (cast shadows) and at the light one. */
export const TONES = { dark: 0.35, light: 0.92 } as const
/** How fast the difference to real skin fades, and most of it in L, a and b. */
export const MEETING = { fading: 0.16, max: 25 } as const
/** L by which a limb is lighter in its middle, darker at its edge, and darker below its bone than above it: light comes from above. */
export const LIMB_ROUND = { middle: 3, edge: 16, power: 2.5, below: 7, radius: 1.08 } as const
/** What is kept of the old garment's light: blurs, share, limits in L, and deviation of L from which it is taken for a print. */
export const OLD_LIGHT = { near: 0.035, wide: 0.22, share: 0.35, darker: 8, lighter: 6, belief: [1.5, 4] } as const

// Bare legs.

/**
 * Area of skin that gives a tone; L and tint by which it may differ from all skin, and L from its own median. The tint keeps white shoes
 * and socks away, which differ by 15 and more. remove/lower/remove.test.ts, "white shoes".
 */
export const LEG_TONE = { area: 0.015, fromSkin: 25, tint: 12, fromMedian: 9 } as const
/** L of a leg's middle, its edge and its knee, a that a knee is redder, and the knee's length. */
export const LEG_ROUND = { middle: 2, edge: 15, power: 2.6, knee: 2.5, kneeRed: 1.5, kneeLength: 0.09 } as const
/** What is kept of the worn garment's light: blurs, share, limits in L. */
export const WORN_LIGHT = { near: 0.06, wide: 0.35, share: 0.3, darker: 5, lighter: 4 } as const
/** A bare leg's radius over that of its clothes, where it goes on below the ankle, and where it begins above the new hem. */
export const BARE_LEG = { radius: 0.97, below: 0.15, above: 0.06 } as const
/** Around the worn garment: its rim, what is thin enough to be one, and where invented skin joins real skin. */
export const LEG_RIM = { rim: 0.022, thin: 0.014, skin: 0.015 } as const

// Below a dress.

/** F from which a dress takes the place of what hips and legs wear, and from which that goes for skin too. */
export const DRESS_FROM = { hips: 0.95, skin: 1.2 } as const

/** The belly that a crop top leaves free, in body coordinates F. By eye on two crop tops. */
export const MIDRIFF = {
  /** Hems above it show skin down to the waistband. */
  hem: 0.76,
  /** A waistband that is not seen. */
  waistband: 0.82,
  /** A worn hem below it is that of a coat or a dress. remove/upper/remove.test.ts, "long coat". */
  coat: 1.2,
} as const
