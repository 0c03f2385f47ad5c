import type { Budgets } from '../../api/shops/limit-public-routes.ts'

/** Budgets that refuse nothing, for tests of a route without Redis. */
export const UNLIMITED: Budgets = {
  limit: () => (_, next) => next(),
  spend: async () => {},
  findRefusal: async () => null,
}
