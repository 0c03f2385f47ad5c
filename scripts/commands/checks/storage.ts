import { randomUUID } from 'node:crypto'
import { createStorage } from '../../../api/shared/storage/storage.ts'
import { CheckFailure } from '../failure.ts'
import { storageUrl } from './environment.ts'

/** An object is stored, read back as it was, and deleted. */
export async function checkStorage(): Promise<Record<string, unknown>> {
  const storage = await createStorage(storageUrl(), { publicUrl: '', signingSecret: '' })
  const key = `checks/${randomUUID()}.bin`
  const content = Buffer.from(`written by a check at ${new Date().toISOString()}`)
  try {
    await storage.put(key, content, { contentType: 'application/octet-stream' })
    const found = await storage.get(key)
    if (found === null || !found.equals(content)) throw new CheckFailure('The storage gave back something else')
    await storage.delete([key])
    if (await storage.exists(key)) throw new CheckFailure('The storage kept what was deleted')
    return { bytes: content.length }
  } finally {
    storage.close()
  }
}
