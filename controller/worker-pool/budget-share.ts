/** A pool among others that share a cost budget. */
export interface Member {
  readonly key: string
  /** The pool with the higher number comes first; infinite for a pool that nothing limits. */
  readonly priority: number
  /** Cost of one worker per hour, above 0. */
  readonly hourlyCost: number
  /** Workers that the pool keeps before any pool gets more than its own min. */
  readonly min: number
  /** Workers that the demand requires, within the bounds of the pool itself. */
  readonly wanted: number
  /** Workers that exist or that were decided on, whichever are more. */
  readonly held: number
}

export interface BudgetShare {
  /** Workers that the pool may have in the end, given what comes before it. */
  readonly workers: number
  /** Workers that fit beside those that the other pools hold now. */
  readonly room: number
}

/**
 * The share of a pool in an hourly cap: first each pool's min, then what the demand requires, both by priority, then by cost, then by
 * key. What the pools before it do not require is all there for it. If every pool keeps to its `workers` and grows only
 * into its `room`, the pools together exceed the cap neither in the end nor meanwhile.
 */
export function shareOf(member: Member, others: readonly Member[], hourlyCap: number): BudgetShare {
  const inOrder = [member, ...others].sort(byPrecedence)
  let left = hourlyCap
  const take = (each: Member, workers: number): number => {
    const taken = Math.min(Math.max(0, workers), affordable(left, each))
    left -= taken * each.hourlyCost
    return taken
  }
  const mins = new Map(inOrder.map((each) => [each, take(each, each.min)]))
  const minOf = (each: Member) => mins.get(each) ?? 0
  for (const each of inOrder.slice(0, inOrder.indexOf(member))) take(each, each.wanted - minOf(each))
  const heldCost = others.reduce((sum, { held, hourlyCost }) => sum + held * hourlyCost, 0)
  return {
    workers: minOf(member) + affordable(left, member),
    room: affordable(hourlyCap - heldCost, member),
  }
}

/** Workers that so much an hour pays for. Floating point must not cost one where it divides evenly. */
export function affordable(hourly: number, { hourlyCost }: Pick<Member, 'hourlyCost'>): number {
  return Math.max(0, Math.floor(hourly / hourlyCost + 1e-9))
}

function byPrecedence(a: Member, b: Member): number {
  if (a.priority !== b.priority) return a.priority > b.priority ? -1 : 1
  return a.hourlyCost - b.hourlyCost || (a.key < b.key ? -1 : 1)
}
