import type { Colours, Mask, Plane } from '../../raster/plane.ts'

/** Which pixels of the person are what, from colour and place. All of the analysed picture's size. */
export interface Parts {
  readonly skin: Mask
  readonly top: Mask
  readonly lower: Mask
  readonly hair: Mask
  /** Body coordinates F and X of every pixel (see BodyFrame). */
  readonly along: Plane
  readonly across: Plane
  /** The slightly blurred picture in CIE Lab. */
  readonly lab: Colours
  /** Median Lab of visible skin, or null when none was found. */
  readonly skinColour: readonly [number, number, number] | null
  readonly hasFace: boolean
}
