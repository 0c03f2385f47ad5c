import { createAccounts } from '../../api/accounts/accounts.store.ts'
import { createApiKeys } from '../../api/accounts/api-keys.store.ts'
import { readRestrictions, SCOPES, type Scope } from '../../api/accounts/restrictions.ts'
import { DrapeError } from '../../api/shared/contract/errors.ts'
import type { Database } from '../../api/shared/database/database.ts'
import { splitList } from '../../api/shared/process/config.ts'
import type { DatabaseCommand } from './command.ts'
import { list, mandatory, type Options, option, required, UsageError } from './options.ts'
import { secretOptions } from './secret-options.ts'

/** Operator commands for keys. */
export const keyCommands: Readonly<Record<string, DatabaseCommand>> = {
  'key create': {
    summary: 'create a key and print it once',
    options: [
      mandatory('--account <id>', 'account, acc_…'),
      option('--kind <kind>', 'a secret key has all permissions unless restricted').choices(['secret', 'publishable']),
      option(
        '--test',
        'create a test key, sk_test_…: needs no credits and no workers; its data is separate and kept for 1 day',
      ),
      option('--name <name>', 'name of the key, shown in lists'),
      list('--scope <scope,scope>', `restrict it to these scopes: ${SCOPES.join(', ')}`),
      option('--expires <90d|time>', 'restrict it to this time'),
      list('--cidr <range,range>', 'restrict it to these source addresses, as in 203.0.113.0/24 (PROXY_HOPS)'),
    ],
    effect: 'changes',
    inDatabase: create,
  },
  'key list': {
    summary: 'list keys with name, last four characters, restrictions and last use',
    options: [mandatory('--account <id>', 'account, acc_…')],
    effect: 'reads',
    inDatabase: async (database, { account }) => {
      const { id } = await createAccounts(database).get(required(account, 'account'))
      return { keys: await createApiKeys(database).list(id) }
    },
  },
  'key revoke': {
    summary: 'revoke a key within 3 seconds, by itself or by the ID that key list shows',
    options: [
      ...secretOptions('key', 'the key'),
      option('--account <id>', 'account, acc_…, with --key-id'),
      option('--key-id <id>', 'ID of the key, key_…'),
    ],
    effect: 'changes',
    inDatabase: async (database, { key, account, 'key-id': id }) => {
      const revoked = id === undefined ? await revokeKey(database, key) : await revokeById(database, account, id)
      if (revoked === null)
        throw new DrapeError('VALIDATION_FAILED', 'No active key matches: it does not exist or was already revoked.')
      return { revoked: true, ...revoked }
    },
  },
}

async function create(database: Database, options: Options) {
  const kind = options.kind === 'publishable' ? 'publishable' : 'secret'
  const accountId = required(options.account, 'account')
  const restrictions = readRestrictions(kind, {
    scopes: readScopes(options.scope),
    expiresAt: readExpiry(options.expires),
    allowedCidrs: options.cidr === undefined ? null : splitList(options.cidr),
  })
  await createAccounts(database).get(accountId)
  const name = options.name ?? null
  const isTest = options.test !== undefined
  if (isTest && kind === 'publishable') throw new UsageError('--test is for secret keys')
  const { id, key } = await createApiKeys(database).insert(accountId, kind, { ...restrictions, name, isTest })
  return { id, key, name, isTest, ...restrictions }
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
