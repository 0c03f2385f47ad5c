import { hostname, userInfo } from 'node:os'
import { type Act, createOperatorAudit } from '../../api/dashboard/operator-audit.store.ts'
import type { Database } from '../../api/shared/database/database.ts'
import type { Answer, DatabaseCommand } from './command.ts'
import type { Options } from './options.ts'
import { isSecret } from './secret-options.ts'

/**
 * Runs a command. A command that changes data writes its audit log entry in the same transaction.
 * @param name for example `key create`
 */
export async function runAudited(
  database: Database,
  { name, command, options }: { name: string; command: DatabaseCommand; options: Options },
): Promise<Answer | undefined> {
  if (command.effect === 'reads') return command.inDatabase(database, options)
  const audit = createOperatorAudit(database)
  const actor = { operator: null, address: null, form: null, name: nameActor(options.actor) }
  if (command.effect === 'changes in steps') {
    await audit.insert(actor, describeAct(name, options, {}))
    return command.inDatabase(database, options)
  }
  const done = await audit.record(actor, async (within) => {
    const answer = await command.inDatabase(within, options)
    return { answer, act: describeAct(name, options, answer ?? {}) }
  })
  return done?.answer
}

/** Records an act of a command without its own transaction. */
export async function noteAct(database: Database, actor: string | undefined, act: Act): Promise<void> {
  await createOperatorAudit(database).insert({ operator: null, address: null, form: null, name: nameActor(actor) }, act)
}

/** `cli:user@host`, or the name that the caller provides (`--actor`, `DRAPE_ACTOR`). */
function nameActor(given = process.env.DRAPE_ACTOR): string {
  return `cli:${(given || `${userName()}@${hostname()}`).slice(0, 200)}`
}

/** Container users may have no name. */
function userName(): string {
  try {
    return userInfo().username
  } catch {
    return String(process.getuid?.() ?? 'unknown')
  }
}

/** Options that are not recorded: the actor, and the output format. */
const UNAUDITED: ReadonlySet<string> = new Set(['actor', 'json'])

function describeAct(name: string, options: Options, answer: Answer): Act {
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
      Object.entries(options).flatMap(([option, value]) =>
        value === undefined || isSecret(option) || UNAUDITED.has(option) ? [] : [[option, value]],
      ),
    ),
  }
}
