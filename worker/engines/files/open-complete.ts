import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { readMarker } from './marker.ts'

const POLL_MS = 250

/** Progress of the downloads that a worker waits for. */
export interface DownloadProgress {
  /** Engines whose files are incomplete; empty while a complete engine is opened. */
  readonly engines: readonly string[]
  /** Seconds that the longest finished download took; null before the first one. */
  readonly downloadSeconds: number | null
}

/** Opens each engine as soon as another process has completed its files in the folder of its name in `directory`. */
export async function openWhenComplete(
  names: readonly string[],
  {
    directory,
    open,
    onProgress,
  }: {
    directory: string
    open: (name: string) => Promise<void>
    /** Called on each change. */
    onProgress: (progress: DownloadProgress) => void
  },
): Promise<void> {
  const missing = new Set(names)
  let downloadSeconds: number | null = null
  let isWaiting = false
  while (missing.size > 0) {
    const found = await findComplete(missing, directory)
    if (found === null) {
      if (!isWaiting) onProgress({ engines: [...missing], downloadSeconds })
      isWaiting = true
      await sleep(POLL_MS)
      continue
    }
    missing.delete(found.name)
    isWaiting = false
    downloadSeconds = Math.max(downloadSeconds ?? 0, found.seconds)
    onProgress({ engines: [], downloadSeconds })
    await open(found.name)
  }
}

async function findComplete(names: ReadonlySet<string>, directory: string) {
  for (const name of names) {
    const marker = await readMarker(join(directory, name))
    if (marker !== null) return { name, seconds: marker.seconds }
  }
  return null
}
