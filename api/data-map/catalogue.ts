import { ACCOUNT_TABLES } from './accounts.ts'
import { CATALOG_TABLES } from './catalog.ts'
import { EVENT_TABLES } from './events.ts'
import { OPERATOR_TABLES } from './operators.ts'
import { PERSON_TABLES } from './persons.ts'
import { SHOP_TABLES } from './shops.ts'
import type { TableMap } from './table-map.ts'

/** Every table of the database, by the people whose data it holds. */
export const TABLE_GROUPS: Readonly<Record<string, Readonly<Record<string, TableMap>>>> = {
  'People in photos': PERSON_TABLES,
  'Shoppers and shops': SHOP_TABLES,
  'Analytics events': EVENT_TABLES,
  'Customers of the installation': ACCOUNT_TABLES,
  'Operators of the dashboard': OPERATOR_TABLES,
  'Catalog and operation': CATALOG_TABLES,
}

/** All of them together. */
export const TABLES: Readonly<Record<string, TableMap>> = Object.assign({}, ...Object.values(TABLE_GROUPS))
