import { DrapeError } from '../shared/errors.ts'

const MB = 1024 * 1024

/** Bytes of one request on disk. */
export interface DiskShare {
  /** Throws a retryable `SERVICE_UNAVAILABLE` when a limit would be exceeded. */
  add(bytes: number): void
  /** MUST be called when the bytes are deleted. */
  release(): void
}

/** Opens a share of an owner: an account, or a network address of strangers. */
export type DiskBudget = (owner: string) => DiskShare

/**
 * Counts the bytes of request bodies on the disk of this process, so that no number of connections fills it: `total` bytes of all
 * owners, `owner` bytes of one.
 */
function createDiskBudget({ total, owner: ofOwner }: { total: number; owner: number }): DiskBudget {
  const held = new Map<string, number>()
  let sum = 0

  return (owner) => {
    let counted = 0
    const release = () => {
      const left = (held.get(owner) ?? 0) - counted
      if (left > 0) held.set(owner, left)
      else held.delete(owner)
      sum -= counted
      counted = 0
    }
    return {
      add: (bytes) => {
        const own = (held.get(owner) ?? 0) + bytes
        if (own > ofOwner || sum + bytes > total) {
          // A refused body is deleted at once: without its bytes the bodies that arrive beside it go on.
          release()
          throw exhausted()
        }
        held.set(owner, own)
        counted += bytes
        sum += bytes
      },
      release,
    }
  }
}

/**
 * Budgets of a disk of `megabytes`: three quarters for bodies of accounts, half of these for one account; a quarter for files that
 * shoppers upload, 48 MB for one network address. So strangers never use up what accounts need.
 */
export function createDiskBudgets(megabytes: number) {
  const bytes = megabytes * MB
  return {
    accounts: createDiskBudget({ total: bytes * 0.75, owner: bytes * 0.375 }),
    shoppers: createDiskBudget({ total: bytes * 0.25, owner: 48 * MB }),
  }
}

function exhausted(): DrapeError {
  return new DrapeError('SERVICE_UNAVAILABLE', 'Too many files are being received. Send the request again later.', {
    retryable: true,
    retryAfterSeconds: 5,
  })
}
