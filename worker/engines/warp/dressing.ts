import type { LowerFitting } from './fit/lower/fitting.ts'
import type { UpperFitting } from './fit/upper/fitting.ts'
import type { LowerRemoval, UpperRemoval } from './remove/removal.ts'
import type { FlatGarment, LowerLayers, UpperLayers } from './warp/layers.ts'

/** The accumulated results of the stages. */
export type Warped =
  | (UpperFitting & { readonly layers: UpperLayers })
  | (LowerFitting & { readonly layers: LowerLayers })

/** Layers with the light of the scene; `flat` has the size of the analysed bitmap. */
export type Shaded = Warped & { readonly flat: FlatGarment }

export type Removed =
  | (Extract<Shaded, { kind: 'upper' }> & { readonly removal: UpperRemoval })
  | (Extract<Shaded, { kind: 'lower' }> & { readonly removal: LowerRemoval })
