import { createHash } from 'node:crypto'

/** The hash that stands for an erased object: SHA-256 of a zero byte and the key in UTF-8, as hex (RFC 9162, section 2.1.1). */
export function leafOf(key: string): string {
  return createHash('sha256').update(LEAF).update(key, 'utf8').digest('hex')
}

const LEAF = Uint8Array.of(0)
const NODE = Uint8Array.of(1)

/** The root of the Merkle tree over leaves in this order, as hex (RFC 9162, section 2.1.1); SHA-256 of nothing where there are none. */
export function rootOf(leaves: readonly string[]): string {
  let hashes: readonly Uint8Array[] = leaves.map((leaf) => Buffer.from(leaf, 'hex'))
  if (hashes.length === 0) return createHash('sha256').digest('hex')
  while (hashes.length > 1) hashes = levelAbove(hashes)
  return Buffer.from(hashes[0]).toString('hex')
}

/** Pairs of neighbours; a last one without a neighbour goes up as it is, which gives the tree of the standard. */
function levelAbove(hashes: readonly Uint8Array[]): Uint8Array[] {
  const above: Uint8Array[] = []
  for (let i = 0; i < hashes.length; i += 2) {
    const right = hashes[i + 1]
    above.push(
      right === undefined ? hashes[i] : createHash('sha256').update(NODE).update(hashes[i]).update(right).digest(),
    )
  }
  return above
}
