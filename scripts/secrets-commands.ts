import { createStoredSecrets } from '../api/stores/stored-secrets.ts'
import { type Command, UsageError } from './command-options.ts'

export const SECRETS_USAGE = `\
  secrets rewrap                                        encrypt every stored secret with the first key of SECRETS_KEY
  secrets status                                        count stored secrets by the key that encrypts them`

/** The encryption of the secrets that the database holds. */
export const secretsCommands: Readonly<Record<string, Command>> = {
  'secrets rewrap': async (database) => {
    if (database.secrets.keyId === null) throw new UsageError('SECRETS_KEY is not set')
    const stored = createStoredSecrets(database)
    const rewrapped = await stored.rewrap()
    return { rewrapped, secrets: await stored.count() }
  },

  'secrets status': async (database) => ({
    currentKey: database.secrets.keyId,
    secrets: await createStoredSecrets(database).count(),
  }),
}
