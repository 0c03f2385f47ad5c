import type { KeyKind } from '../api/keys/credentials.ts'
import { readRestrictions, SCOPES, type Scope } from '../api/keys/restrictions.ts'
import { splitList } from '../api/shared/config.ts'
import type { Database } from '../api/shared/database/database.ts'
import { DrapeError } from '../api/shared/errors.ts'
import { createAccounts } from '../api/stores/accounts.ts'
import { createApiKeys } from '../api/stores/api-keys.ts'
import { type Command, required, UsageError } from './command-options.ts'

export const KEY_USAGE = `\
  key create --account ID [--kind secret|publishable]   create a key and print it once; a secret key has all permissions unless
      [--test]                                          a test key, sk_test_…: no credits, no workers, data apart for a day
      [--name N]                                        a name to recognise it by
      [--scope ${SCOPES.join(',')}]              restricted to these scopes,
      [--expires 90d|ISO]                               to an expiry time,
      [--cidr 203.0.113.0/24,…]                         or to these source addresses (PROXY_HOPS)
  key list --account ID                                 list keys with name, last four characters, restrictions and last use
  key revoke --key-file PATH|-                          revoke a key within 3 seconds
  key revoke --account ID --key-id ID                   the same by the ID that key list shows`

export const KEY_SWITCHES = ['test']
export const KEY_OPTIONS = ['kind', 'key', 'key-id', 'expires']
/** Options that may be repeated, or hold several values separated by commas. */
export const KEY_LISTS = ['scope', 'cidr']

/** What an operator does with keys. */
export const keyCommands: Readonly<Record<string, Command>> = {
  'key create': async (database, options) => {
    const kind = readKind(options.kind)
    const accountId = required(options.account, 'account')
    const restrictions = readRestrictions(kind, {
      scopes: readScopes(options.scope),
      expiresAt: readExpiry(options.expires),
      allowedCidrs: options.cidr === undefined ? null : splitList(options.cidr),
    })
    if ((await createAccounts(database).find(accountId)) === null)
      throw new DrapeError('ACCOUNT_NOT_FOUND', `The account ${accountId} does not exist.`)
    const name = options.name ?? null
    const isTest = options.test !== undefined
    if (isTest && kind === 'publishable') throw new UsageError('--test is for secret keys')
    const { id, key } = await createApiKeys(database).insert(accountId, kind, { ...restrictions, name, isTest })
    return { id, key, name, isTest, ...restrictions }
  },

  'key list': async (database, { account }) => ({
    keys: await createApiKeys(database).list(required(account, 'account')),
  }),

  'key revoke': async (database, { key, account, 'key-id': id }) => {
    const revoked = id === undefined ? await revokeKey(database, key) : await revokeById(database, account, id)
    if (revoked === null)
      throw new DrapeError('VALIDATION_FAILED', 'No active key matches: it does not exist or was already revoked.')
    return { revoked: true, ...revoked }
  },
}

function revokeKey(database: Database, key: string | undefined) {
  if (!key) throw new UsageError('--key-file, or --account and --key-id, is required')
  return createAccounts(database).revokeKey(key)
}

async function revokeById(database: Database, account: string | undefined, id: string) {
  const accountId = required(account, 'account')
  const revoked = await createApiKeys(database).revoke({ accountId, id })
  return revoked && { id, accountId }
}

function readKind(text = 'secret'): KeyKind {
  if (text !== 'secret' && text !== 'publishable') throw new UsageError('--kind must be secret or publishable')
  return text
}

function readScopes(text: string | undefined): Scope[] | null {
  if (text === undefined) return null
  const isScope = (name: string): name is Scope => SCOPES.some((scope) => scope === name)
  const names = splitList(text)
  if (!names.every(isScope)) throw new UsageError(`--scope must be of ${SCOPES.join(', ')}`)
  return [...new Set(names)]
}

const DAY_MS = 86_400_000

function readExpiry(text: string | undefined): Date | null {
  if (text === undefined) return null
  const [, days] = /^(\d{1,5})d$/.exec(text) ?? []
  const time = days === undefined ? new Date(text) : new Date(Date.now() + Number(days) * DAY_MS)
  const isTime = days !== undefined || /^\d{4}-\d{2}-\d{2}/.test(text)
  if (!isTime || Number.isNaN(time.getTime()))
    throw new UsageError('--expires must be a number of days such as 90d, or a time such as 2027-01-31T12:00:00Z')
  return time
}
