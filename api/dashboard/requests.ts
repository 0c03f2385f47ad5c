import type { Accounts } from '../accounts/accounts.store.ts'
import type { ApiKeys } from '../accounts/api-keys.store.ts'
import type { LoggedRequest, RequestLog } from '../http/request-log.store.ts'
import { Type } from '../shared/contract/schema.ts'
import { findAccount, PAGE } from './accounts.ts'
import { fieldsReader, queryOf } from './form.ts'
import { showPage } from './layout.ts'
import { pages } from './pages.ts'
import { presentRequests, STATUS_CLASSES } from './requests.view.ts'
import type { DashboardContext } from './state.ts'
import { Minute, readTime } from './times.ts'

export interface RequestPagesOptions {
  readonly accounts: Pick<Accounts, 'findEdition'>
  readonly requestLog: RequestLog
  readonly keys: Pick<ApiKeys, 'list'>
}

/** GET /accounts/:id/requests: the latest requests of an account, those of its test keys too. */
export const requestPages = pages<RequestPagesOptions>([
  { route: 'GET /accounts/:id/requests', role: 'viewer', isSearch: true, run: showRequests },
])

const readSearch = fieldsReader(
  Type.Object({
    status: Type.Optional(Type.Enum(Object.keys(STATUS_CLASSES))),
    code: Type.Optional(Type.String({ maxLength: 100 })),
    route: Type.Optional(Type.String({ maxLength: 200 })),
    key: Type.Optional(Type.String({ maxLength: 4 })),
    from: Minute,
    to: Minute,
    before: Type.Optional(Type.String({ pattern: '^\\d{1,15}~[\\w.:-]{1,128}$' })),
  }),
)

async function showRequests(ctx: DashboardContext, options: RequestPagesOptions): Promise<void> {
  const { requestLog, keys } = options
  const { id: accountId, name } = await findAccount(ctx, options)
  const query = queryOf(ctx)
  const { status, code = null, route = null, key = null, before, ...times } = readSearch(query)
  const search = {
    accountId,
    route,
    errorCode: code,
    keyLastFour: key,
    limit: PAGE,
    statusClass: status === undefined ? null : Number(status),
    from: readTime('from', times.from),
    to: readTime('to', times.to),
    before: readPlace(before),
  }
  const { kept, forms } = ctx.state
  const [found, routes, owned] = await Promise.all([
    kept === null ? requestLog.search(search) : [],
    requestLog.listRoutes(accountId),
    keys.list(accountId),
  ])
  const last = found.length === PAGE ? found.at(-1) : undefined
  showPage(ctx, {
    title: `Requests of ${name}`,
    body: presentRequests(found, { accountId, query, routes, keys: owned, forms, next: last ? placeOf(last) : null }),
  })
}

/** Names an entry in an address. */
function placeOf({ createdAt, requestId }: LoggedRequest): string {
  return `${createdAt.getTime()}~${requestId}`
}

function readPlace(text: string | undefined): { createdAt: Date; requestId: string } | null {
  if (text === undefined) return null
  const [milliseconds, requestId] = text.split('~')
  return { createdAt: new Date(Number(milliseconds)), requestId }
}
