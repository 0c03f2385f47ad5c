/** A pool that shares a cost budget with others. */
export interface Member {
  readonly key: string
  /** Pools with a higher priority come first; infinite for a pool that no budget limits. */
  readonly priority: number
  /** Cost of one worker per hour, above 0. */
  readonly hourlyCost: number
  /** Workers that are reserved for the pool before any pool gets more than its own min. */
  readonly min: number
  /** Workers that the demand requires, within the bounds of the pool itself. */
  readonly wanted: number
  /** The number of existing or of decided workers, whichever is higher. */
  readonly held: number
}

export interface BudgetShare {
  /** Workers that the pool can have eventually, given the pools before it. */
  readonly workers: number
  /** Workers that fit next to those that the other pools have now. */
  readonly room: number
}

/**
 * The share of a pool in an hourly cap: first each pool's min, then the workers that the demand requires, both by priority, then by
 * cost, then by key. A pool can use everything that the pools before it do not require. If every pool keeps to its `workers` and
 * grows only into its `room`, the pools together never exceed the cap, not even temporarily.
 */
export function shareOf(member: Member, others: readonly Member[], hourlyCap: number): BudgetShare {
  const left = createCap([member, ...others], hourlyCap)
  const heldCost = others.reduce((sum, { held, hourlyCost }) => sum + held * hourlyCost, 0)
  return {
    workers: left(member, (other, comesFirst) => (comesFirst ? other.wanted : 0)),
    room: affordable(hourlyCap - heldCost, member),
  }
}

/** A cost budget and its pools. */
export interface SharedBudget {
  readonly hourlyCap: number
  readonly mode: 'Soft' | 'Hard'
  readonly members: readonly Member[]
}

/** The remaining room of cost budgets while workers are assigned to one pool after another. */
export interface BudgetRoom {
  /** Max workers of the pool; infinite for a pool that no budget limits. */
  maxWorkers(key: string): number
  /**
   * Assigns workers to the pool, at most as many as it can have. Returns the pool's claim on the budgets: the workers that it can have
   * eventually.
   */
  assign(key: string, workers: number): number
}

/**
 * A pool cannot use what the pools before it claim, or still have without needing it. Of the pools after it only the assigned
 * workers count: their other workers leave, except busy workers under a soft budget.
 */
export function createBudgetRoom(budgets: readonly SharedBudget[], claimed: ReadonlyMap<string, number>): BudgetRoom {
  const assigned = new Map<string, number>()
  const caps = budgets.map(({ members, hourlyCap, mode }) => ({
    mode,
    workersOf: createCap(members, hourlyCap),
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

/** Number of workers that an hourly amount pays for. Floating-point errors must not cost a worker if it divides evenly. */
export function affordable(hourly: number, { hourlyCost }: Pick<Member, 'hourlyCost'>): number {
  return Math.max(0, Math.floor(hourly / hourlyCost + 1e-9))
}

/** Computes the share of one pool in a cap, next to the min of each other pool and the workers assigned to it. */
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
