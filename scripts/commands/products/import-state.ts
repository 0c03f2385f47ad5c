import { randomUUID } from 'node:crypto'
import { readFile, rename, rm, writeFile } from 'node:fs/promises'
import { UsageError } from '../options.ts'

/** Progress of an import, stored beside the file until the import is complete. */
export interface ImportState {
  /** Prefix of the batches' Idempotency-Keys. */
  readonly id: string
  /** Of the service and the file: a different one starts a new import. */
  readonly fingerprint: string
  batchIds: string[]
  failed: number
}

export function createImportState(path: string) {
  return {
    /** The state of an interrupted import, or of a new one. */
    load: async (fingerprint: string): Promise<ImportState> => {
      const text = await readFile(path, 'utf8').catch(() => null)
      try {
        const state = text === null ? null : (JSON.parse(text) as ImportState)
        if (state?.fingerprint === fingerprint && Array.isArray(state.batchIds)) return state
      } catch {
        // Do not overwrite an unrelated file.
        throw new UsageError(`${path} is not the state of an import: move or delete it`)
      }
      return { id: randomUUID(), fingerprint, batchIds: [], failed: 0 }
    },
    save: async (state: ImportState): Promise<void> => {
      await writeFile(`${path}.new`, JSON.stringify(state))
      await rename(`${path}.new`, path)
    },
    delete: () => rm(path, { force: true }),
  }
}
