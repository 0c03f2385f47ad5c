import type { Middleware } from 'koa'
import { DrapeError } from '../../shared/contract/errors.ts'

/** Koa's parsing time grows with the square of the number of parameters with one name. */
const MAX_PARAMETERS = 200

/** Refuses paths that name nothing, and queries that take long to parse. */
export const refuseTarget: Middleware = function refuseTarget(ctx, next) {
  // No resource name contains U+0000, and Postgres rejects it in queries.
  if (ctx.path.includes('%00')) throw new DrapeError('ROUTE_NOT_FOUND', 'The route does not exist.')
  if (ctx.querystring.split('&', MAX_PARAMETERS + 1).length > MAX_PARAMETERS) {
    throw new DrapeError('VALIDATION_FAILED', `The query has more than ${MAX_PARAMETERS} parameters.`)
  }
  return next()
}
