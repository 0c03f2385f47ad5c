import { execFileSync } from 'node:child_process'
import { appendFileSync, chmodSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { requestService } from '../../support/request-service.ts'

/** A small file system. */
export interface SmallDisk {
  readonly folder: string
  /** Leaves no byte free. */
  fill(): void
  /** Frees the space that `fill` used. */
  free(): void
  unmount(): void
}

/** Null without the right to mount one. */
export async function mountSmallDisk(megabytes: number): Promise<SmallDisk | null> {
  const { path: folder } = await requestService('folder', null)
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', folder], { stdio: 'ignore' })
  } catch {
    return null
  }
  chmodSync(folder, 0o777)
  const filler = join(folder, 'filler')
  return {
    folder,
    fill: () => {
      for (let bytes = 1 << 20; bytes >= 1; bytes >>= 4) appendUntilFull(filler, Buffer.alloc(bytes))
    },
    free: () => rmSync(filler, { force: true }),
    unmount: () => execFileSync('umount', ['-l', folder]),
  }
}

function appendUntilFull(path: string, piece: Buffer): void {
  try {
    for (;;) appendFileSync(path, piece)
  } catch {
    // No byte more than was free.
  }
}
