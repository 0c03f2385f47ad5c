import { type Database, sql } from '../../api/shared/database/database.ts'
import type { Detected } from '../../api/shared/generations/generation.ts'

export type Detections = ReturnType<typeof createDetections>

/** Detections of workers in product images. */
export function createDetections(database: Database) {
  return {
    /**
     * Records a detection for an image, unless it is already recorded or the product's images have changed since `imagesEdition`.
     * Changes no other column of the product and does not wait for a locked product: the next try-on records the detection
     * instead.
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
