import { randomUUID } from 'node:crypto'
import { createStorage } from '../../../api/shared/storage/storage.ts'
import { CheckFailure } from '../failure.ts'
import { storageUrl } from './environment.ts'

/** An object can be stored, read back unchanged, and deleted. `deletion`: why it is deleted in another way than usual. */
export async function checkStorage(): Promise<{ bytes: number; deletion?: string }> {
  const reasons: string[] = []
  const onFallback = (reason: string) => reasons.push(reason)
  const storage = await createStorage(storageUrl(), { publicUrl: '', signingSecret: '', onFallback })
  const key = `checks/${randomUUID()}.bin`
  const content = Buffer.from(`written by a check at ${new Date().toISOString()}`)
  try {
    await storage.put(key, content, { contentType: 'application/octet-stream' })
    const found = await storage.get(key)
    if (found === null || !found.equals(content))
      throw new CheckFailure('The object read from the storage differs from the object written')
    await storage.delete([key])
    if (await storage.exists(key)) throw new CheckFailure('The storage still contains the deleted object')
    return { bytes: content.length, ...(reasons.length > 0 && { deletion: reasons.join(' ') }) }
  } finally {
    storage.close()
  }
}
