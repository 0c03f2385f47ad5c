import { readFile } from 'node:fs/promises'
import type { Accounts } from '../../accounts/accounts.store.ts'
import { storeLogo } from '../../photos/account-logo.ts'
import { createLogos } from '../../photos/logos.store.ts'
import { DrapeError } from '../../shared/contract/errors.ts'
import { contentTypeOf, type ObjectStorage } from '../../shared/storage/object.ts'
import type { Objects } from '../../shared/storage/objects.store.ts'
import { change } from '../forms/change.ts'
import { seeOther } from '../html/layout.ts'
import type { OperatorAudit } from '../operator-audit.store.ts'
import { ofAccount, pages } from '../page.ts'
import { actorOf, type DashboardContext } from '../state.ts'
import { findAccount } from './accounts.ts'

export interface LogoOptions {
  readonly accounts: Accounts
  readonly objects: Pick<Objects, 'insert'>
  readonly storage: ObjectStorage
  readonly audit: OperatorAudit
}

/** The logo of an account. */
export const logoPages = pages<LogoOptions>([
  { route: 'GET /accounts/:id/logo', role: 'viewer', owns: ofAccount, run: getLogo },
  {
    route: 'POST /accounts/:id/logo',
    role: 'admin',
    form: '/accounts/:id',
    done: { 'logo.set': 'The logo was set.' },
    run: changeLogo,
  },
  change({
    route: 'POST /accounts/:id/logo/remove',
    role: 'admin',
    form: '/accounts/:id',
    action: 'logo.remove',
    message: 'The logo was removed.',
    find: ({ params: { id } }, _: LogoOptions) => ({ id, accountId: id }),
    run: async (within, { accountId }) => {
      await createLogos(within).replace({ accountId, key: null })
    },
  }),
])

async function getLogo(ctx: DashboardContext, options: LogoOptions): Promise<void> {
  const { logoKey } = await findAccount(ctx, options)
  const bytes = logoKey === null ? null : await options.storage.get(logoKey)
  if (logoKey === null || bytes === null) throw new DrapeError('ROUTE_NOT_FOUND', 'The account has no logo.')
  ctx.type = contentTypeOf(logoKey)
  ctx.body = bytes
}

async function changeLogo(ctx: DashboardContext, options: LogoOptions): Promise<void> {
  const { id: accountId } = await findAccount(ctx, options)
  const file = ctx.state.files.find(({ field }) => field === 'logo')
  if (file === undefined || file.bytes === 0) throw new DrapeError('FILE_REQUIRED', 'Choose an image.')
  // Stored before the transaction: a logo that is not set is swept.
  const key = await storeLogo({ accountId, file: await readFile(file.path) }, options)
  await options.audit.record(actorOf(ctx), async (within) => {
    await createLogos(within).replace({ accountId, key })
    return { act: { action: 'logo.set', object: accountId, accountId, details: { key } } }
  })
  seeOther(ctx, `/accounts/${accountId}`, 'logo.set')
}
