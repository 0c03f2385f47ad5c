import { type Static, type TSchema, Type } from '../contract/schema.ts'
import { type Database, rowType, sql } from './database.ts'

type Fragment = ReturnType<typeof sql.fragment>

/** Which rows of a list to return. */
export interface ListSearch {
  /** Part of one of the texts of a row, such as the end of an ID; in any case. */
  readonly text?: string
  /** Values of a row, by column. */
  readonly only?: Readonly<Record<string, string | number | boolean>>
  /** Bounds of `createdAt`: the first instant, and the first instant after. */
  readonly from?: Date | null
  readonly to?: Date | null
}

/** Which part of a list to return: a page in an order, or what follows a row in the order of IDs, newest first. */
export type ListPart =
  | { readonly limit: number; readonly skip?: number; readonly sort?: string | null; readonly isAscending?: boolean }
  | { readonly limit: number; readonly before: string | number | null }

/** Rows that can be searched, sorted, paged and counted. */
export interface Listing<R> {
  list(search: ListSearch, part: ListPart): Promise<readonly R[]>
  /** At most `MAX_COUNTED` + 1. */
  count(search: ListSearch): Promise<number>
}

/** Counting further takes long, and the list shows only that there are more. */
export const MAX_COUNTED = 10_000

/** Of an object. */
type RowSchema = TSchema & { readonly properties: Readonly<Record<string, TSchema>> }

export interface ListingOptions<S extends RowSchema> {
  /** A row, with an `id` that is unique in the list. */
  readonly row: S
  /** A query with the columns of the row. The conditions of a search are added outside of it. */
  readonly rows: Fragment | ((search: ListSearch) => Fragment)
  /** Columns in which a text is searched. */
  readonly texts: readonly (keyof S['properties'] & string)[]
  /** Order of a page without another one. Default: newest first, as IDs sort by time. */
  readonly order?: Fragment
}

const Count = rowType(Type.Object({ count: Type.Integer() }))

export function createListing<S extends RowSchema>(
  database: Pick<Database, 'any' | 'oneFirst'>,
  { row, rows, texts, order = sql.fragment`id desc` }: ListingOptions<S>,
): Listing<Static<S>> {
  const parsed = rowType(row)
  const column = (name: string) => {
    if (!Object.hasOwn(row.properties, name)) throw new Error(`The list has no column ${name}.`)
    return sql.identifier([name])
  }
  const listed = (search: ListSearch) => {
    const { text = '', only = {}, from = null, to = null } = search
    const searched = sql.join(
      texts.map((name) => column(name)),
      sql.fragment`, `,
    )
    const conditions = [
      text !== '' && sql.fragment`strpos(lower(concat_ws(' ', ${searched})), lower(${text})) > 0`,
      ...Object.entries(only).map(([name, value]) => sql.fragment`${column(name)} = ${value}`),
      from !== null && sql.fragment`"createdAt" >= ${from.toISOString()}`,
      to !== null && sql.fragment`"createdAt" < ${to.toISOString()}`,
    ].filter((condition) => condition !== false)
    const query = typeof rows === 'function' ? rows(search) : rows
    return sql.fragment`(${query}) as listed where ${sql.join([sql.fragment`true`, ...conditions], sql.fragment` and `)}`
  }
  return {
    list: (search, part) => {
      if ('before' in part) {
        const isOlder = part.before === null ? sql.fragment`true` : sql.fragment`id < ${part.before}`
        return database.any(sql.type(parsed)`
          select * from ${listed(search)} and ${isOlder} order by id desc limit ${part.limit}`) as never
      }
      const { sort = null, isAscending = false, skip = 0, limit } = part
      const direction = isAscending ? sql.fragment`asc` : sql.fragment`desc`
      const sorted = sort === null ? order : sql.fragment`${column(sort)} ${direction} nulls last, id ${direction}`
      return database.any(sql.type(parsed)`
        select * from ${listed(search)} order by ${sorted} limit ${limit} offset ${skip}`) as never
    },
    count: (search) =>
      database.oneFirst(sql.type(Count)`
        select count(*) as count from (select from ${listed(search)} limit ${MAX_COUNTED + 1}) as counted`),
  }
}
