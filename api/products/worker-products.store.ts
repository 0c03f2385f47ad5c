import { rowType, Type } from '../shared/contract/schema.ts'
import { type Database, sql } from '../shared/database/database.ts'
import type { Detected } from '../shared/generations/generation.ts'
import type { ProductEdition } from '../shared/generations/worker-calls.ts'

const Edition = rowType(Type.Object({ id: Type.String(), imagesEdition: Type.String() }))

/** What workers record of products and must know about them. */
export function createWorkerProducts(database: Database) {
  return {
    /** The products that were deleted, have expired, or have other images. */
    findChanged: (products: readonly ProductEdition[]): Promise<readonly ProductEdition[]> =>
      database.any(sql.type(Edition)`
        select distinct wanted.id, wanted."imagesEdition"
        from jsonb_to_recordset(${sql.jsonb(products.map((product) => ({ ...product })))}) as wanted (id text, "imagesEdition" text)
        where not exists (
          select from products
          where products.id = wanted.id and images_edition = wanted."imagesEdition"
            and (expires_at is null or expires_at > now())
        )`),

    /**
     * Records a detection for an image, unless it is already recorded or the product's images have changed since `imagesEdition`.
     * Changes no other column of the product and does not wait for a locked product: the next try-on records the detection
     * instead.
     */
    noteDetection: async ({
      productId,
      imagesEdition,
      order,
      detected,
    }: {
      productId: string
      imagesEdition: string
      order: number
      detected: Detected
    }): Promise<void> => {
      const seen = sql.jsonb({ ...detected })
      await database.query(sql.unsafe`
        with product as (
          select id from products
          where id = ${productId} and images_edition = ${imagesEdition}
            and (detected->>'edition' is distinct from images_edition
              or detected->'images'->${String(order)}::text is distinct from ${seen})
          for no key update skip locked
        )
        update products
        set detected = jsonb_build_object('edition', images_edition, 'images',
          case when detected->>'edition' = images_edition then detected->'images' else '{}' end
            || jsonb_build_object(${String(order)}::text, ${seen}))
        from product where products.id = product.id and images_edition = ${imagesEdition}`)
    },
  }
}
