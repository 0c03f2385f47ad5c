import { differenceCiede2000 } from 'culori'

/** A colour in CIE Lab under D65. */
export type Lab = readonly [l: number, a: number, b: number]

const difference = differenceCiede2000()

/** CIEDE2000 with all weights 1: 1 is about the smallest difference that people see between large patches. */
export function ciede2000(one: Lab, other: Lab): number {
  return difference(colourOf(one), colourOf(other))
}

function colourOf([l, a, b]: Lab) {
  return { mode: 'lab65', l, a, b } as const
}
