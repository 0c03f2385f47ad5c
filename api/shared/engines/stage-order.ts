/** Stages of a try-on in the order in which they run. */
export const STAGES = ['decode', 'safety', 'engine', 'composite', 'encode'] as const
export type Stage = (typeof STAGES)[number]

/**
 * Stages within `engine`, of all engines: each engine runs some of them in this order. Only the engine `warp` measures
 * the body (`view`, `body`, `parts`) after `garment` if it learns from the garment whether it needs the legs.
 */
export const ENGINE_STAGES = [
  ...(['category', 'resize', 'pose', 'person', 'wearer', 'view', 'body', 'parts', 'garment'] as const),
  ...(['plan', 'place', 'warp', 'shade', 'remove', 'order', 'denoise', 'change', 'paste'] as const),
] as const
export type EngineStage = (typeof ENGINE_STAGES)[number]
