import { type Database, sql } from '../api/shared/database/database.ts'
import type { Detected } from '../api/shared/generation.ts'

export type Detections = ReturnType<typeof createDetections>

/** What workers saw in product images. */
export function createDetections(database: Database) {
  return {
    /**
     * Notes what an image shows, unless that is known already or the product's images have changed since `imagesEdition`. It is no
     * edit: nothing else of the product changes, and a product that an edit holds at the moment is left for the next time.
     */
    note: async ({
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
