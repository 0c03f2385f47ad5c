import { parseStorageUrl } from '../network/service-urls.ts'
import { createFileStorage } from './file.ts'
import type { ObjectStorage } from './object.ts'

export type { ObjectStorage } from './object.ts'

export interface StorageSettings {
  /** Base URL of the API, which serves links to objects of the `file:` storage. */
  readonly publicUrl: string
  /** Signs those links; unused in a process that creates no links. */
  readonly signingSecret: string
  /** Called with the reason when the storage lacks a way to delete objects and another one works. */
  readonly onFallback?: (reason: string) => void
}

/**
 * Creates the storage of a URL; S3 takes its credentials from AWS's usual variables.
 * @throws Error with the reason for a URL that is not valid
 */
export async function createStorage(storageUrl: string, settings: StorageSettings): Promise<ObjectStorage> {
  const address = parseStorageUrl(storageUrl)
  if (address.kind === 'file') return createFileStorage({ root: address.folder, ...settings })
  // Imported on demand: the package is large, and nothing else needs it.
  const { createS3Storage } = await import('./s3.ts')
  return createS3Storage({ ...address, onFallback: settings.onFallback })
}
