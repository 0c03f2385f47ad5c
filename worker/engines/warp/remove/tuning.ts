/**
 * Tuned values of this stage. F is the body coordinate along the body (0 at the shoulders, 1 at the hips), X across it in body units;
 * lengths are body units and areas their squares; L, a and b are CIE Lab, ΔE is CIE 1976. Unless noted otherwise, the values were chosen
 * with `scripts/bench quality` on the rendered figures of test/fixtures, whose true regions and images are known. The named tests fail
 * without the value.
 */

// Rejections and warnings. All values are areas.

/**
 * Max area of trousers invented below a short top; much smaller if no trousers are visible. remove/upper/remove.test.ts, "long coat", "half
 * of a coat".
 */
export const MAX_BELOW_HEM = { known: 0.85, unknown: 0.06 } as const
/** Max area of invented skin if arms and neck show no skin. remove/upper/remove.test.ts, "no skin is seen"; remove/lower/remove.test.ts. */
export const MAX_WITHOUT_SKIN = 0.15
/** Max area of skin in place of a skin-coloured garment, whose edge is invisible. remove/upper/worn-mask.test.ts, "cream roll-neck". */
export const MAX_OF_SKIN_COLOUR = 0.1
/** Max difference in tint and L between such a garment and skin. remove/upper/worn-mask.test.ts, "brown top". */
export const SKIN_COLOURED = { tint: 7, lightness: 16 } as const
/**
 * Thresholds of the warnings OLD_GARMENT_LONGER, LARGE_SKIN_INVENTED, LARGE_BACKGROUND_INVENTED (beside the upper body and beside legs),
 * OLD_GARMENT_REMAINS.
 */
export const WARNED = { longer: 0.06, skin: 0.45, background: 0.12, besideLegs: 0.35, remains: 0.02 } as const
/** Min area to fill: lower garment, skin, and clothes of the legs. */
export const MIN_FILLED = { lower: 0.004, skin: 0.002, legs: 0.002 } as const
/** Min visible area of a lower garment to extend it. */
export const MIN_LOWER_SEEN = 0.02

// Clothes worn on the upper body.

/** Max F of a top. */
export const TOP_UNTIL = 1.6
/** Width of the surroundings of the shoulders, which can be clothed above them. */
export const NEAR_SHOULDERS = 0.1
/** A sleeve: min share of cloth on an arm, max extension beyond the certain part, and width over the arm's. */
export const SLEEVE = { cloth: 0.3, beyond: 0.16, width: 1.15 } as const
/** Distances by which cloth extends beyond the mask: always, where pixels resemble cloth (up to this ΔE), and its rim. */
export const OVER_EDGE = { sure: 0.018, alike: 0.06, difference: 12, rim: 0.01 } as const
/** F above which only collars and raised arms are clothed, and the X and F range of collars. */
export const HIGHEST = { body: -0.14, collarAcross: 0.35, collar: -0.5, raisedWidth: 1.4 } as const
/** Depth inside the mask from which cloth is not background, and max ΔE from background elsewhere. */
export const BACKGROUND_LIKE = { deep: 0.06, difference: 8 } as const

// Replacement of the worn garment.

/** Half width of the neck, half width where it becomes shoulders, its share of the ear distance, and the F range over which it widens. */
export const NECK = { min: 0.15, max: 0.2, perEar: 0.44, root: 0.35, from: -0.17, until: -0.02, top: -0.5 } as const
/** F and shares of the torso's half width that bound the body. */
export const TORSO = { until: 1.2, chest: 0.35, belowChest: 0.88, background: 1.25 } as const
/**
 * F by which the lower garment starts above the new hem, its end, and its half width over the torso's.
 */
export const BELOW_HEM = { above: 0.03, until: 1.7, width: 1.12 } as const
/**
 * Rows of the lower garment, in F below the old hem, whose width it has above, too; margin on each side; share of the rows that may be
 * narrower. remove/upper/remove.test.ts, "wide jacket".
 */
export const LOWER_WIDTH = { from: 0.03, to: 0.2, margin: 0.02, outer: 0.75 } as const
/** Radius over the bare arm's within which an arm becomes bare: beside the garment, and in front of it, where it starts over a length. */
export const UNDRESSED = { beside: 1.3, before: 0.8, over: 0.25 } as const
/** Sigma by which the outline of an undressed arm is smoothed. remove/upper/remove.test.ts, "jagged". */
export const ARM_OUTLINE = 0.03
/** Max distance by which a sleeve is drawn beyond its own edge to cover a bare arm. */
export const ARM_EXTENSION = 0.07

// The background.

/** Distance from the person, whose mask is unreliable at the edge, from which pixels are background. */
export const BACKGROUND_MARGIN = 0.05
/** Min mask value of a pixel that can belong to the person. */
export const MAYBE_PERSON = 0.08

// Invented skin of the upper body.

/** Min areas: for a tone, and for more than a chin (half a hand, half a neck). */
export const SKIN_SEEN = { tone: 0.004, body: 0.03 } as const
/** Max difference in tint and L between skin and face, and min distance in px from the border. */
export const FACE_TONE = { tint: 12, lightness: 40, inside: 2.5 } as const
/**
 * Quantiles of the tones, by L, that are excluded at the dark end (cast shadows; of a neck also the shade of the chin, which a chest is not
 * in) and at the light end.
 */
export const TONES = { dark: 0.35, shade: 0.6, light: 0.92 } as const
/** L, a and b of a chest minus those of the neck's lighter tones: as medians of 45 real photos with a bare chest have it. */
export const CHEST_TONE = [3, -1, -1.5] as const
/**
 * The collarbones, in body coordinates: F of their inner ends and the share of X by which they rise outwards; the X between which they
 * show; a crease, a lighter ridge below it and a hollow above it, and the notch between them, each with its L and its half width in F; F
 * of ridge and hollow. By the medians of 89 halves of real chests, aligned at the crease.
 */
export const COLLARBONE = {
  inner: -0.04,
  rise: 0.13,
  from: 0.04,
  until: 0.4,
  crease: [-3, 0.01],
  ridge: [3.5, 0.035],
  ridgeBelow: 0.045,
  hollow: [-2.5, 0.03],
  hollowAbove: 0.03,
  notch: [-5, 0.025],
  /** The skin around them: max X, F above the crease, and the share from which the photo's own are visible. */
  seen: { until: 0.25, above: -0.06, share: 0.5 },
} as const
/** Max L by which a neck is darker than the face because the chin shades it; the chest, which it does not shade, is that much lighter. */
export const NECK_SHADE = 12
/** Fade-out length of the difference to real skin, and its max in L, a and b. */
export const MEETING = { fading: 0.16, max: 25 } as const
/** L by which a limb is lighter in its middle, darker at its edge, and darker below its bone than above: light comes from above. */
export const LIMB_ROUND = { middle: 3, edge: 16, power: 2.5, below: 7, radius: 1.08 } as const
/** F between which an arm parts from the chest. */
export const ARMPIT = [0.12, 0.28] as const

// Bare legs.

/**
 * Min area of skin for a tone; max difference in L and tint from all skin, and in L from its own median. The tint excludes white shoes
 * and socks, which differ by 15 and more. remove/lower/remove.test.ts, "white shoes".
 */
export const LEG_TONE = { area: 0.015, fromSkin: 25, tint: 12, fromMedian: 9 } as const
/** L of a leg's middle, edge and knee, a by which a knee is redder, and the knee's length. */
export const LEG_ROUND = { middle: 2, edge: 15, power: 2.6, knee: 2.5, kneeRed: 1.5, kneeLength: 0.09 } as const
/** A bare leg's radius over that of its clothes, its end below the ankle, and its start above the new hem. */
export const BARE_LEG = { radius: 0.97, below: 0.15, above: 0.06 } as const
/** Around the worn garment: its rim, and width of the transition from invented to real skin. */
export const LEG_RIM = { rim: 0.022, skin: 0.015 } as const

// Below a dress.

/** F from which a dress replaces the clothes of hips and legs, and from which it also replaces skin. */
export const DRESS_FROM = { hips: 0.95, skin: 1.2 } as const

/** The belly below a crop top, in body coordinates F. Chosen by eye on two crop tops. */
export const MIDRIFF = {
  /** A hem above this F shows skin down to the waistband. */
  hem: 0.76,
  /** F of an invisible waistband. */
  waistband: 0.82,
  /** Below this F a worn hem is that of a coat or a dress. remove/upper/remove.test.ts, "long coat". */
  coat: 1.2,
} as const
