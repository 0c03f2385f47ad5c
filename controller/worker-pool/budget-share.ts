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
  const left = createCap([member, ...others], hourlyCap)
  const heldCost = others.reduce((sum, { held, hourlyCost }) => sum + held * hourlyCost, 0)
  return {
    workers: left(member, (other, comesFirst) => (comesFirst ? other.wanted : 0)),
    room: affordable(hourlyCap - heldCost, member),
  }
}

/** A cost budget, and the pools that count for it. */
export interface SharedBudget {
  readonly hourlyCap: number
  readonly mode: 'Soft' | 'Hard'
  readonly members: readonly Member[]
}

/** What cost budgets leave to pools while workers are assigned to one after the other. */
export interface BudgetRoom {
  /** Workers that the pool may have; infinite for a pool that no budget limits. */
  maxWorkers(key: string): number
  /** Assigns workers to the pool, as many of them as it may have. Returns what it claims of the budgets: what it can have in the end. */
  assign(key: string, workers: number): number
}

/**
 * What the pools before a pool claim, or hold although they do not need it any more, is not there for it; of the pools after it only
 * what has been assigned to them. Their workers above that leave, but not from a soft budget, where busy ones stay.
 */
export function createBudgetRoom(budgets: readonly SharedBudget[], claimed: ReadonlyMap<string, number>): BudgetRoom {
  const assigned = new Map<string, number>()
  const caps = budgets.map(({ members, hourlyCap, mode }) => ({
    ...{ mode, workersOf: createCap(members, hourlyCap) },
    limited: new Map(
      members.filter(({ priority }) => priority < Number.POSITIVE_INFINITY).map((each) => [each.key, each]),
    ),
  }))
  const takenBy = ({ key }: Member) => assigned.get(key) ?? 0
  const claimedBy = (other: Member) => Math.max(takenBy(other), claimed.get(other.key) ?? 0)
  const leftTo = (key: string, takenAfter: (other: Member, mode: 'Soft' | 'Hard') => number) =>
    caps.reduce((least, { limited, workersOf, mode }) => {
      const member = limited.get(key)
      if (member === undefined) return least
      return Math.min(
        least,
        workersOf(member, (other, comesFirst) => (comesFirst ? claimedBy(other) : takenAfter(other, mode))),
      )
    }, Number.POSITIVE_INFINITY)
  const maxWorkers = (key: string) =>
    leftTo(key, (other, mode) => (mode === 'Soft' ? claimedBy(other) : takenBy(other)))
  return {
    maxWorkers,
    assign: (key, workers) => {
      assigned.set(key, Math.min(workers, maxWorkers(key)))
      return Math.min(
        workers,
        leftTo(key, () => 0),
      )
    },
  }
}

/** Workers that so much an hour pays for. Floating point must not cost one where it divides evenly. */
export function affordable(hourly: number, { hourlyCost }: Pick<Member, 'hourlyCost'>): number {
  return Math.max(0, Math.floor(hourly / hourlyCost + 1e-9))
}

/** Computes what a cap leaves to one of its pools, beside the min of each and what each other takes. */
function createCap(members: readonly Member[], hourlyCap: number) {
  const inOrder = [...members].sort(byPrecedence)
  let beyondMins = hourlyCap
  const mins = new Map<Member, number>()
  for (const each of inOrder) {
    const taken = Math.min(each.min, affordable(beyondMins, each))
    mins.set(each, taken)
    beyondMins -= taken * each.hourlyCost
  }
  const minOf = (member: Member) => mins.get(member) ?? 0
  return (member: Member, takenBy: (other: Member, comesFirst: boolean) => number): number => {
    let left = beyondMins
    let comesFirst = true
    for (const each of inOrder) {
      if (each === member) comesFirst = false
      else
        left -= Math.min(Math.max(0, takenBy(each, comesFirst) - minOf(each)), affordable(left, each)) * each.hourlyCost
    }
    return minOf(member) + affordable(left, member)
  }
}

function byPrecedence(a: Member, b: Member): number {
  if (a.priority !== b.priority) return a.priority > b.priority ? -1 : 1
  return a.hourlyCost - b.hourlyCost || (a.key < b.key ? -1 : 1)
}
