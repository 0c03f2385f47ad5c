import type { LowerFitting } from './fit/lower/fitting.ts'
import type { UpperFitting } from './fit/upper/fitting.ts'
import type { LowerRemoval, UpperRemoval } from './remove/removal.ts'
import type { FlatGarment, LowerLayers, UpperLayers } from './warp/layers.ts'

/** What is known after each stage; every stage adds to what it gets. */
export type Warped =
  | (UpperFitting & { readonly layers: UpperLayers })
  | (LowerFitting & { readonly layers: LowerLayers })

/** The layers are lit like the scene; `flat` is of the analysed picture's size. */
export type Shaded = Warped & { readonly flat: FlatGarment }

export type Removed =
  | (Extract<Shaded, { kind: 'upper' }> & { readonly removal: UpperRemoval })
  | (Extract<Shaded, { kind: 'lower' }> & { readonly removal: LowerRemoval })
