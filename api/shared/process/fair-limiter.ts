import { DrapeError } from '../contract/errors.ts'

export interface Turn {
  /** Share of the capacity. Default 1. */
  readonly weight?: number
  /** Owner of the work: an owner with less running work goes first. Default: one owner for all. */
  readonly owner?: string
  /** Work that has not started when the signal aborts is not started. */
  readonly signal?: AbortSignal
}

export type FairLimiter = <T>(work: () => Promise<T>, turn?: Turn) => Promise<T>

interface Waiting {
  readonly weight: number
  readonly start: () => void
}

interface Owner {
  running: number
  readonly waiting: Set<Waiting>
}

/**
 * Runs work concurrently while the sum of weights is within `capacity`. Further work waits: the owner with the smallest
 * running weight is next, among equal owners the least recently served one, and each owner's work runs in order of
 * arrival. The maximum weight is the capacity. The returned function throws a retryable SERVICE_UNAVAILABLE while
 * `maxWaiting` works wait, or half as many of one named owner, and VALIDATION_FAILED for work whose signal aborts
 * before it starts.
 */
export function createFairLimiter(capacity: number, { maxWaiting = Number.POSITIVE_INFINITY } = {}): FairLimiter {
  const owners = new Map<string, Owner>()
  let free = capacity
  let waitingCount = 0

  function ownerOf(name: string): Owner {
    const owner = owners.get(name) ?? { running: 0, waiting: new Set() }
    owners.set(name, owner)
    return owner
  }

  function nextOwner(): [string, Owner] | undefined {
    let next: [string, Owner] | undefined
    for (const entry of owners) {
      if (entry[1].waiting.size > 0 && (next === undefined || entry[1].running < next[1].running)) next = entry
    }
    return next
  }

  function begin(name: string, owner: Owner, weight: number): void {
    free -= weight
    owner.running += weight
    owners.delete(name)
    owners.set(name, owner)
  }

  function startWaiting(): void {
    for (let next = nextOwner(); next !== undefined; next = nextOwner()) {
      const [name, owner] = next
      const [first] = owner.waiting
      // Smaller work does not overtake: large work would starve.
      if (first.weight > free) return
      owner.waiting.delete(first)
      waitingCount--
      begin(name, owner, first.weight)
      first.start()
    }
  }

  function removeIdle(name: string, { running, waiting }: Owner): void {
    if (running === 0 && waiting.size === 0) owners.delete(name)
  }

  function wait(name: string, owner: Owner, { weight, signal }: { weight: number; signal?: AbortSignal }) {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const leave = () => {
      if (!owner.waiting.delete(entry)) return
      waitingCount--
      removeIdle(name, owner)
      reject(aborted())
      // Waiting work behind it may be smaller.
      startWaiting()
    }
    const start = () => {
      signal?.removeEventListener('abort', leave)
      resolve()
    }
    const entry = { weight, start }
    owner.waiting.add(entry)
    waitingCount++
    signal?.addEventListener('abort', leave, { once: true })
    startWaiting()
    return promise
  }

  return async (work, { weight = 1, owner: name = '', signal } = {}) => {
    if (weight > capacity) throw new RangeError(`The weight ${weight} exceeds the capacity ${capacity}`)
    if (signal?.aborted) throw aborted()
    const maxOwnWaiting = name === '' ? maxWaiting : Math.ceil(maxWaiting / 2)
    if (waitingCount >= maxWaiting || (owners.get(name)?.waiting.size ?? 0) >= maxOwnWaiting) throw overloaded()
    const owner = ownerOf(name)
    if (waitingCount === 0 && weight <= free) begin(name, owner, weight)
    else await wait(name, owner, { weight, signal })
    try {
      return await work()
    } finally {
      free += weight
      owner.running -= weight
      removeIdle(name, owner)
      startWaiting()
    }
  }
}

function overloaded(): DrapeError {
  return new DrapeError('SERVICE_UNAVAILABLE', 'Too many images are being processed. Send the request again.', {
    retryable: true,
  })
}

function aborted(): DrapeError {
  return new DrapeError('VALIDATION_FAILED', 'The request is not valid.', {
    details: [{ path: '', message: 'was aborted before its image was decoded' }],
  })
}
