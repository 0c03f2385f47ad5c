import { randomUUID } from 'node:crypto'
import { checkStorage } from '../checks/storage.ts'
import { withStorage } from '../storage.ts'
import { compareClocks } from './clock.ts'
import { examine, type Finding, ok } from './finding.ts'

const FOLDER = 'checks/'

/** Writes, reads and deletes an object, and compares the clock of the storage. */
export async function examineStorage(): Promise<readonly Finding[]> {
  const cure =
    'Check STORAGE_URL, the credentials (AWS_ACCESS_KEY_ID or workload identity), and that the bucket or folder is writable and not full.'
  return examine('storage', cure, async () => {
    const { bytes, deletion } = await checkStorage()
    return [
      ok('storage', `wrote, read and deleted ${bytes} bytes`),
      ...(deletion === undefined ? [] : [ok('storage deletion', deletion)]),
      await examineClock(),
    ]
  })
}

async function examineClock(): Promise<Finding> {
  return withStorage(async (storage) => {
    const key = `${FOLDER}${randomUUID()}.bin`
    // Storage timestamps are rounded down to seconds.
    const before = Math.floor(Date.now() / 1000) * 1000
    await storage.put(key, Buffer.from('clock'), { contentType: 'application/octet-stream' })
    const after = Date.now()
    try {
      for await (const page of storage.list(FOLDER)) {
        const written = page.find((object) => object.key === key)
        if (written) return compareClocks('storage clock', { theirs: written.modifiedAt.getTime(), before, after })
      }
      throw new Error('The storage does not list an object that was written.')
    } finally {
      await storage.delete([key])
    }
  })
}
