import Router from '@koa/router'
import { DrapeError } from '../shared/errors.ts'
import { Type } from '../shared/schema.ts'
import { createApiKeys } from '../stores/api-keys.ts'
import type { OperatorAudit } from '../stores/operator-audit.ts'
import { type AccountPagesOptions, findAccount } from './accounts.ts'
import { presentNewKeys } from './accounts.view.ts'
import { fieldsReader } from './form.ts'
import { seeOther, showPage } from './layout.ts'
import { actorOf, type DashboardContext, type DashboardState } from './state.ts'

type Options = Pick<AccountPagesOptions, 'accounts'> & { readonly audit: OperatorAudit }

/** What is done with the keys of an account. */
export function keyPages(options: Options): Router<DashboardState> {
  const router = new Router<DashboardState>()
  router.post('/accounts/:id/keys', (ctx: DashboardContext) => createKey(ctx, options))
  router.post('/accounts/:id/keys/:key/rotate', (ctx: DashboardContext) => rotateKey(ctx, options))
  router.post('/accounts/:id/keys/:key/revoke', (ctx: DashboardContext) => revokeKey(ctx, options))
  return router
}

const readKind = fieldsReader(Type.Object({ kind: Type.Enum(['secret', 'publishable']) }))

async function createKey(ctx: DashboardContext, options: Options): Promise<void> {
  const { id: accountId } = await findAccount(ctx, options)
  const { kind } = readKind(ctx.state.form)
  const made = await options.audit.record(actorOf(ctx), async (within) => {
    const { id, key } = await createApiKeys(within).insert(accountId, kind)
    return { key, act: { action: 'key.create', object: id, accountId, details: { kind } } }
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

async function revokeKey(ctx: DashboardContext, { audit }: Options): Promise<void> {
  const { id: accountId, key: id } = ctx.params
  const done = await audit.record(actorOf(ctx), async (within) => {
    const kind = await createApiKeys(within).revoke({ accountId, id })
    return kind && { act: { action: 'key.revoke', object: id, accountId, details: { kind } } }
  })
  if (done === null) throw unknownKey(id)
  seeOther(ctx, `/accounts/${accountId}`, 'revoked')
}

function showKey(ctx: DashboardContext, { accountId, key }: { accountId: string; key: string }): void {
  showPage(ctx, { title: 'Key created', body: presentNewKeys({ accountId, keys: [['Key', key]] }) })
}

function unknownKey(id: string): DrapeError {
  return new DrapeError('VALIDATION_FAILED', `The account has no live key ${id}.`)
}
