import { hostname, userInfo } from 'node:os'
import type { Database } from '../api/shared/database/database.ts'
import { type Act, createOperatorAudit } from '../api/stores/operator-audit.ts'
import type { Command, Options } from './command-options.ts'

/** Commands that change nothing. */
const READING: ReadonlySet<string> = new Set([
  ...[
    'account list',
    'account show',
    'key list',
    'ledger check',
    'operator list',
    'secrets status',
    'shop list',
    'shop requests',
  ],
  ...['webhook deliveries', 'webhook list'],
])

/** Commands whose work is more than one transaction: that they begin is written down first. */
const LONG: ReadonlySet<string> = new Set(['account logo', 'secrets rewrap', 'storage reconcile', 'sweep'])

/** Options that the audit log repeats: all but those that hold a secret or the path of a file with one. */
export const AUDITED_OPTIONS: readonly string[] = [
  ...['account', 'active', 'address-generations', 'admin-url', 'apply', 'billing-allowed', 'cidr'],
  ...[
    'concurrent-generations',
    'credits',
    'credits-low-at',
    'default-engine',
    'delivery',
    'domain',
    'email',
    'endpoint',
  ],
  ...['events', 'expires', 'extra-domains', 'failed', 'failed-generations-per-hour', 'fallback-after-seconds'],
  ...['fallback-engines', 'file', 'force', 'grace-minutes'],
  ...[
    'key-id',
    'kind',
    'monthly-generations',
    'name',
    'note',
    'plan-ends-at',
    'platform',
    'policies',
    'reads-per-minute',
  ],
  ...[
    'remove',
    'requires-visitor-token',
    'result-days',
    'retention-days',
    'role',
    'scope',
    'shop',
    'storage-megabytes',
    'test',
  ],
  ...['url', 'visitor-generations', 'writes-per-minute'],
]

/**
 * Runs a command. One that changes something writes an entry in the audit log in the same transaction, or neither happens.
 * @param name such as `key create`
 */
export async function runAudited(
  database: Database,
  { name, command, options }: { name: string; command: Command; options: Options },
): Promise<Record<string, unknown>> {
  if (READING.has(name)) return command(database, options)
  const audit = createOperatorAudit(database)
  const actor = { operator: null, address: null, form: null, name: nameActor(options.actor) }
  if (LONG.has(name)) {
    await audit.insert(actor, describeAct(name, options, {}))
    return command(database, options)
  }
  const done = await audit.record(actor, async (within) => {
    const answer = await command(within, options)
    return { answer, act: describeAct(name, options, answer) }
  })
  return done?.answer ?? {}
}

/** Writes down what was done without a command of its own transaction. */
export async function noteAct(database: Database, actor: string | undefined, act: Act): Promise<void> {
  await createOperatorAudit(database).insert({ operator: null, address: null, form: null, name: nameActor(actor) }, act)
}

/** `cli:user@host`, or who the caller says to be (`--actor`, `DRAPE_ACTOR`). */
function nameActor(given = process.env.DRAPE_ACTOR): string {
  return `cli:${(given || `${userName()}@${hostname()}`).slice(0, 200)}`
}

/** Containers run as users who have no name. */
function userName(): string {
  try {
    return userInfo().username
  } catch {
    return String(process.getuid?.() ?? 'unknown')
  }
}

function describeAct(name: string, options: Options, answer: Record<string, unknown>): Act {
  const { id, accountId } = answer
  const account =
    typeof accountId === 'string' ? accountId : (options.account ?? (name === 'account create' ? id : null))
  const named = options.endpoint ?? options.shop ?? options.account ?? options.email ?? null
  return {
    action: name.replaceAll(' ', '.'),
    object: typeof id === 'string' ? id : named,
    accountId: typeof account === 'string' ? account : null,
    reason: options.note ?? null,
    details: Object.fromEntries(
      AUDITED_OPTIONS.flatMap((option) => (options[option] === undefined ? [] : [[option, String(options[option])]])),
    ),
  }
}
