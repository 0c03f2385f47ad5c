import type { Connection } from './connection.ts'
import { withIdempotencyKey } from './idempotency-key.ts'
import type { CallOptions, WriteOptions } from './request.ts'
import type { ListProductsQuery, Product, ProductList, ProductStatistics, StatisticsQuery } from './schemas.ts'
import { describeProduct, type ProductInput } from './try-on-body.ts'

export interface ProductCalls {
  /** Creates or updates the product. Omitted fields keep their stored value. */
  upsert(product: ProductInput, options?: WriteOptions): Promise<Product>
  get(externalId: string, options?: CallOptions): Promise<Product>
  /** One page of products. */
  list(options?: ListProductsQuery & CallOptions): Promise<ProductList>
  /** All products, page by page: `for await (const product of drape.products.each())`. */
  each(options?: Pick<ListProductsQuery, 'limit'> & CallOptions): AsyncGenerator<Product>
  delete(externalId: string, options?: CallOptions): Promise<void>
  statistics(externalId: string, options?: StatisticsQuery & CallOptions): Promise<ProductStatistics>
}

const PATH = ['products']

export function createProducts({ call }: Connection): ProductCalls {
  const list: ProductCalls['list'] = ({ signal, ...query } = {}) => call({ method: 'GET', path: PATH, query, signal })
  return {
    upsert: async (product, options = {}) =>
      call({ method: 'POST', path: PATH, body: await describeProduct(product), ...withIdempotencyKey(options) }),
    get: (externalId, { signal } = {}) => call({ method: 'GET', path: [...PATH, externalId], signal }),
    list,
    each: async function* (options = {}) {
      let cursor: string | undefined
      do {
        const page = await list({ ...options, cursor })
        yield* page.items
        cursor = page.nextCursor ?? undefined
      } while (cursor !== undefined)
    },
    delete: async (externalId, { signal } = {}) => {
      await call({ method: 'DELETE', path: [...PATH, externalId], signal })
    },
    statistics: (externalId, { signal, ...query } = {}) =>
      call({ method: 'GET', path: [...PATH, externalId, 'stats'], query, signal }),
  }
}
