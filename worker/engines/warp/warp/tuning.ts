/**
 * Tuned values of this stage. Folds are shares of a piece's area that is folded over, 0 to 1. Unless noted otherwise, the values were
 * chosen on the rendered figures of test/fixtures with `scripts/bench quality`. The named tests fail without the value.
 */

// Rejections and warnings.

/** Max folds: more folds mean a wrong landmark. warp/upper.test.ts, "refuses to fold". */
export const REFUSED_FOLD = { torso: 0.02, sleeve: 0.3, lower: 0.12 } as const
/** Folds of a sleeve above which the result warns SLEEVE_FOLDED. */
export const DOUBTFUL_FOLD = 0.18

// Drawing.

/** px of the analysed bitmap between evaluations of the torso's spline, which is smooth. */
export const NODE_STEP = 6
/** Slack of the spline at its points: an exact fit would let a misplaced landmark crease the cloth. No unit. */
export const SPLINE_SLACK = 5e-4
/** Torso widths by which the torso extends under the sleeves, to avoid a gap at the seam. */
export const TORSO_OVERLAP = 0.02
/**
 * Product px per px of the output: up to `unblurred` the bicubic kernel alone prevents aliasing of fine patterns. warp/upper.test.ts,
 * "flicker".
 */
export const REDUCTION = { unblurred: 1.3, kept: 1.5, sigma: 0.45 } as const
