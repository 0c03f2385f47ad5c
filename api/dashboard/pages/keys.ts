import { createApiKeys, type KeySettings } from '../../accounts/api-keys.store.ts'
import type { KeyKind } from '../../accounts/credentials.ts'
import { type KeyRestrictions, readRestrictions, SCOPES } from '../../accounts/restrictions.ts'
import { DrapeError } from '../../shared/contract/errors.ts'
import { Type } from '../../shared/contract/schema.ts'
import { change } from '../forms/change.ts'
import { fieldsReader } from '../forms/form.ts'
import { showPage } from '../html/layout.ts'
import type { OperatorAudit } from '../operator-audit.store.ts'
import { ofAccount, pages } from '../page.ts'
import { actorOf, type DashboardContext } from '../state.ts'
import { type AccountPagesOptions, findAccount } from './accounts.ts'
import { presentNewKeys } from './accounts.view.ts'

type Options = Pick<AccountPagesOptions, 'accounts'> & { readonly audit: OperatorAudit }

/** Actions on the keys of an account. */
export const keyPages = pages<Options>([
  {
    route: 'POST /accounts/:id/keys',
    role: 'admin',
    owns: ofAccount,
    done: { 'key.create': { message: 'The key was created.', showsSecret: true } },
    run: createKey,
  },
  {
    route: 'POST /accounts/:id/keys/:key/rotate',
    role: 'admin',
    owns: ofAccount,
    done: {
      'key.rotate': { message: 'The key was replaced with a new one.', showsSecret: true },
    },
    run: rotateKey,
  },
  change({
    route: 'POST /accounts/:id/keys/:key/revoke',
    role: 'admin',
    owns: ofAccount,
    action: 'key.revoke',
    message: 'The key was revoked. It stops working within a few seconds.',
    find: ({ params: { id: accountId, key: id } }, _: Options) => ({ id, accountId }),
    run: async (within, key) => {
      const revoked = await createApiKeys(within).revoke(key)
      if (revoked === null) throw unknownKey(key.id)
      return { kind: revoked.kind }
    },
  }),
])

const readNew = fieldsReader(
  Type.Object({
    name: Type.String({ maxLength: 100 }),
    kind: Type.Enum(['secret', 'publishable', 'test']),
    days: Type.Optional(Type.Integer({ minimum: 1, maximum: 3650 })),
    cidrs: Type.Optional(Type.String({ maxLength: 4000 })),
  }),
)

/** Parses the settings of a key. Throws `VALIDATION_FAILED`. */
function readLimits(ctx: DashboardContext): { kind: KeyKind; settings: KeySettings } {
  const { name, kind: chosen, days, cidrs } = readNew(ctx.state.form)
  const isTest = chosen === 'test'
  const kind = isTest ? 'secret' : chosen
  const ticked = ctx.state.form.getAll('scope')
  const restrictions = readFormRestrictions(kind, {
    scopes: ticked.length === 0 ? null : SCOPES.filter((scope) => ticked.includes(scope)),
    expiresAt: days === undefined ? null : new Date(Date.now() + days * DAY_MS),
    allowedCidrs: cidrs === undefined ? null : cidrs.split(/[\s,]+/),
  })
  return { kind, settings: { ...restrictions, name, isTest } }
}

const DAY_MS = 86_400_000

/** Form fields by the restriction that they set. */
const FIELDS: Readonly<Record<string, string>> = { scopes: 'scope', expires: 'days' }

function readFormRestrictions(kind: KeyKind, restrictions: KeyRestrictions): KeyRestrictions {
  try {
    return readRestrictions(kind, restrictions)
  } catch (error) {
    if (!(error instanceof DrapeError) || !Array.isArray(error.details)) throw error
    const details = error.details.map(({ path, message }) => ({ path: FIELDS[path] ?? path, message }))
    throw new DrapeError(error.code, error.message, { details })
  }
}

async function createKey(ctx: DashboardContext, options: Options): Promise<void> {
  const { id: accountId } = await findAccount(ctx, options)
  const { kind, settings } = readLimits(ctx)
  const made = await options.audit.record(actorOf(ctx), async (within) => {
    const { id, key } = await createApiKeys(within).insert(accountId, kind, settings)
    const details = {
      kind: settings.isTest ? 'test' : kind,
      name: settings.name ?? null,
      ...describeRestrictions(settings),
    }
    return { key, act: { action: 'key.create', object: id, accountId, details } }
  })
  if (made !== null) showKey(ctx, { accountId, key: made.key })
}

async function rotateKey(ctx: DashboardContext, { audit }: Options): Promise<void> {
  const { id: accountId, key: id } = ctx.params
  const made = await audit.record(actorOf(ctx), async (within) => {
    const rotated = await createApiKeys(within).rotate({ accountId, id })
    return rotated && { ...rotated, act: { action: 'key.rotate', object: id, accountId, details: { by: rotated.id } } }
  })
  if (made === null) throw unknownKey(id)
  showKey(ctx, { accountId, key: made.key })
}

function describeRestrictions({ scopes, expiresAt, allowedCidrs }: KeyRestrictions): Record<string, string | null> {
  return {
    scopes: scopes?.join(' ') ?? null,
    expires: expiresAt?.toISOString() ?? null,
    addresses: allowedCidrs?.join(' ') ?? null,
  }
}

function showKey(ctx: DashboardContext, { accountId, key }: { accountId: string; key: string }): void {
  showPage(ctx, {
    title: 'Key created',
    body: presentNewKeys({ accountId, keys: [['Key', key]], nextSteps: ctx.state.nextSteps }),
  })
}

function unknownKey(id: string): DrapeError {
  return new DrapeError('VALIDATION_FAILED', `The account has no active key ${id}.`)
}
