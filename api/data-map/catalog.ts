import { nonPersonal, personal, type TableMap } from './table-map.ts'

/** Products, and what keeps the installation running. */
export const CATALOG_TABLES: Readonly<Record<string, TableMap>> = {
  products: personal(
    {
      purpose: 'the catalog of an account',
      lifetime:
        '`validForDays` after the last use: 7 days without `externalId`, 15 in a try-on, none with `POST /products`',
      erasure: '`DELETE /tryon/v1/products/{externalId}`',
    },
    { images: 'product photos, which can show a model' },
    `id account_id external_id anonymous title description images_edition metadata valid_for_days last_used_at expires_at created_at
    updated_at detected`,
  ),
  product_batches: nonPersonal('id account_id items is_fetching created_at'),
  product_batch_items: nonPersonal('batch_id position line external_id result error'),
  product_batch_images: nonPersonal(
    'batch_id position image account_id product_id edition url state error_code attempts available_at',
  ),
  hold_policies: nonPersonal('source name read_at'),
  provenance_keys: nonPersonal('fingerprint certificate first_used_at'),
  result_marks: nonPersonal('id engine version made_on'),
  receipt_keys: nonPersonal('key_id public_key first_used_at'),
  published_engines: nonPersonal(
    'namespace name license max_slots start_seconds warmup_seconds published_at garment_types',
  ),
  recurring_tasks: nonPersonal('name started_at'),
  migrations: nonPersonal('name applied_at'),
}
