import { createStoredSecrets } from '../../api/secrets/stored-secrets.store.ts'
import type { DatabaseCommand } from './command.ts'
import { UsageError } from './options.ts'

/** Commands for the encryption of stored secrets. */
export const secretsCommands: Readonly<Record<string, DatabaseCommand>> = {
  'secrets rewrap': {
    summary: 'encrypt every stored secret with the first key of SECRETS_KEY, and count the secrets by key',
    effect: 'changes in steps',
    inDatabase: async (database) => {
      if (database.secrets.keyId === null) throw new UsageError('SECRETS_KEY is not set')
      const stored = createStoredSecrets(database)
      const rewrapped = await stored.rewrap()
      return { rewrapped, secrets: await stored.count() }
    },
  },
}
