import type { Label, PersonLabels } from '../person/parse.ts'
import type { Plane } from '../raster/plane.ts'

/** What an engine without a generative model shows badly, as shares of the person's area in the photo. */
export interface Strain {
  /** Neck, arms and legs that the photo does not show. */
  readonly skin: number
  /** Background where the photo shows the person. */
  readonly background: number
  /** Coats and jackets in the photo. */
  readonly outer: number
}

const BARE = ['neck', 'arms', 'legs'] as const

/** Compares the labels of a photo with those of the result; both have the same box, at any scale. */
export function findStrain({ shares: before }: PersonLabels, { shares: after }: PersonLabels): Strain {
  const person = before.background.data.reduce((sum, share) => sum + 1 - share, 0)
  const gained = (labels: readonly Label[]) => {
    const shareAt = (shares: Readonly<Record<Label, Plane>>, i: number) =>
      labels.reduce((sum, label) => sum + shares[label].data[i], 0)
    return before.background.data.reduce((sum, _, i) => sum + Math.max(0, shareAt(after, i) - shareAt(before, i)), 0)
  }
  return {
    skin: gained(BARE) / person,
    background: gained(['background']) / person,
    outer: before.outer.data.reduce((sum, share) => sum + share) / person,
  }
}
