/**
 * Tuned values of this stage. Folds are shares of a piece's area that is turned over itself, 0 to 1. Unless a line says otherwise a value was
 * chosen on the rendered figures of test/fixtures with `scripts/bench quality`; a test that is named fails without it.
 */

// Refusals and warnings.

/** Folds above which a landmark must have been wrong: the garment is refused. warp/upper.test.ts, "refuses to fold". */
export const REFUSED_FOLD = { torso: 0.02, sleeve: 0.3, lower: 0.12 } as const
/** Folds of a sleeve above which the result warns SLEEVE_FOLDED. */
export const DOUBTFUL_FOLD = 0.18

// Drawing.

/** px of the analysed picture between the points at which the torso's spline is evaluated; it is smooth. */
export const NODE_STEP = 6
/** How far the spline may miss its points to bend less: exact ones would let a misplaced landmark crease the cloth. No unit. */
export const SPLINE_SLACK = 5e-4
/** Widths of the torso by which it goes under the sleeves, so that no gap opens at the seam. */
export const TORSO_OVERLAP = 0.02
/** Product px per px of the output: up to `unblurred` the bicubic kernel alone keeps fine patterns from shimmering. warp/upper.test.ts, "flicker". */
export const REDUCTION = { unblurred: 1.3, kept: 1.5, sigma: 0.45 } as const
