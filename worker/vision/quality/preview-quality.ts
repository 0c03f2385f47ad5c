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

/** Fitted by scripts/photos/fit.ts on results of the engine `warp` that were rated by eye. */
export const PREVIEW = { base: 2.86, skin: 4.84, background: 6.54, outer: 2.99 } as const

/** The chance, 0 to 1, that a person rates a preview good enough: 3 to 5 on the scale of scripts/photos/SCALE.md. */
export function previewQuality(strain: Strain): number {
  return 1 / (1 + Math.exp(burdensOf(strain).reduce((sum, { burden }) => sum + burden, -PREVIEW.base)))
}

/** What lowers the quality most. */
export function worstStrain(strain: Strain): keyof Strain {
  return burdensOf(strain).reduce((worst, other) => (other.burden > worst.burden ? other : worst)).name
}

function burdensOf(strain: Strain) {
  return (['skin', 'background', 'outer'] as const).map((name) => ({
    name,
    burden: PREVIEW[name] * Math.sqrt(strain[name]),
  }))
}
