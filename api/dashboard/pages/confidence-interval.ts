/** `count` of `total`. */
export interface Share {
  readonly count: number
  readonly total: number
}

interface Interval {
  readonly from: number
  readonly to: number
}

/** 97.5 % quantile of the standard normal distribution: both sides together leave 5 %. */
const Z = 1.959964

/**
 * 95 % interval of the difference `one − other` of two independent shares, −1 to 1: the hybrid score interval without continuity
 * correction, method 10 of R. G. Newcombe, "Interval estimation for the difference between independent proportions: comparison of
 * eleven methods", Statistics in Medicine 17 (1998), 873–890. Both totals must be at least 1.
 */
export function compareShares(one: Share, other: Share): Interval {
  const [a, b] = [scoreInterval(one), scoreInterval(other)]
  const difference = a.share - b.share
  return {
    from: difference - Math.hypot(a.share - a.from, b.to - b.share),
    to: difference + Math.hypot(a.to - a.share, b.share - b.from),
  }
}

/** Wilson's interval of one share. */
function scoreInterval({ count, total }: Share): Interval & { share: number } {
  const share = count / total
  const centre = share + Z ** 2 / (2 * total)
  const width = Z * Math.sqrt((share * (1 - share) + Z ** 2 / (4 * total)) / total)
  const scale = 1 + Z ** 2 / total
  return { share, from: (centre - width) / scale, to: (centre + width) / scale }
}
