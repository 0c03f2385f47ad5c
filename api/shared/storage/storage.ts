import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { DrapeError } from '../errors.ts'
import { createFileStorage } from './file.ts'
import type { ObjectStorage } from './object.ts'

export type { ObjectStorage } from './object.ts'

export interface StorageSettings {
  /** Base URL of the API, which serves links to objects of the `file:` storage. */
  readonly publicUrl: string
  /** Signs those links; unused in a process that creates no links. */
  readonly signingSecret: string
}

/**
 * Creates the storage of a URL: `file:<folder>`, or `s3://<bucket>/<prefix>` with `endpoint`, `region` (default
 * `us-east-1`) and `pathStyle` in the query and credentials from AWS's usual variables.
 * @throws DrapeError INTERNAL_ERROR for any other URL
 */
export async function createStorage(storageUrl: string, settings: StorageSettings): Promise<ObjectStorage> {
  if (storageUrl.startsWith('file:')) return createFileStorage({ root: folderOf(storageUrl), ...settings })
  if (!URL.canParse(storageUrl) || !storageUrl.startsWith('s3://')) {
    throw new DrapeError('INTERNAL_ERROR', 'The storage URL must be file:<folder> or s3://<bucket>/<prefix>.')
  }
  const { hostname, pathname, searchParams } = new URL(storageUrl)
  const prefix = pathname.replace(/^\/+|\/+$/g, '')
  // Imported on demand: the package is large, and nothing else needs it.
  const { createS3Storage } = await import('./s3.ts')
  return createS3Storage({
    bucket: hostname,
    prefix: prefix ? `${prefix}/` : '',
    endpoint: searchParams.get('endpoint') ?? undefined,
    region: searchParams.get('region') ?? 'us-east-1',
    pathStyle: searchParams.get('pathStyle') === 'true',
  })
}

/** Unlike other file URLs, `file:./folder` is relative to the working directory. */
function folderOf(fileUrl: string): string {
  return fileUrl.startsWith('file:/')
    ? fileURLToPath(fileUrl)
    : resolve(decodeURIComponent(fileUrl.slice('file:'.length)))
}
