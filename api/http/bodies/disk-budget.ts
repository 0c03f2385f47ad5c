import { DrapeError } from '../../shared/contract/errors.ts'

const MB = 1024 * 1024

/** Bytes of one request on disk. */
export interface DiskShare {
  /** Throws a retryable `SERVICE_UNAVAILABLE` when a limit would be exceeded. */
  add(bytes: number): void
  /** MUST be called when the bytes are deleted. */
  release(): void
}

/** Opens a share of an owner: an account, or the network address of an unauthenticated caller. */
export type DiskBudget = (owner: string) => DiskShare

/**
 * Limits the bytes of request bodies on this process's disk, so that no number of connections can fill it: `total`
 * bytes for all owners, `owner` bytes for one.
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
          // A rejected body is deleted immediately; releasing its bytes lets concurrent bodies continue.
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
 * Divides a disk of `megabytes`: 3/4 for bodies of accounts, half of these for one account; 1/4 for files that shoppers
 * upload, 48 MB per network address. Strangers thus never use up the space of accounts.
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
