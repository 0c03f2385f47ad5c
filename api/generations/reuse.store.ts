import { sql } from '../shared/database/database.ts'

/** How the calls of an account use results again. */
export interface Reuse {
  /** Price of a reused result, at most that of the try-on. */
  readonly credits: number
  /** Version of the engine that workers run; null while unknown: then no result is reused. */
  readonly version: string | null
}

interface Kind {
  readonly reuse?: Reuse
  readonly cost: number
  readonly engine: string
  readonly garmentTypes: readonly string[]
}

/**
 * SQL fragments of the acceptance for calls of one kind, which add nothing for an account that reuses no results. `ctes`: `earlier`
 * (id, fingerprint, source) of each `allowed` call, the source being the newest completed generation whose result the call would make
 * again, or null. The fingerprint covers everything that decides a result, and the end user, so that nobody gets the result of another person.
 */
export function reuseParts({ reuse, cost, engine, garmentTypes }: Kind, safetyLevel: ReturnType<typeof sql.fragment>) {
  if (!reuse) {
    const nothing = sql.fragment``
    return {
      ctes: nothing,
      columns: nothing,
      values: nothing,
      join: nothing,
      payload: nothing,
      cost: sql.fragment`${cost}`,
    }
  }
  return {
    // Images that a safety policy checks are checked anew in every try-on.
    ctes: sql.fragment`printed as (
      select allowed.id, case when ${safetyLevel} = 'off' then sha256(convert_to(jsonb_build_array(
        product.account_id, allowed.external_user_id, allowed.image_id, allowed.options, ${engine}::text,
        ${sql.jsonb([...garmentTypes])}, account.settings->'minQualityPercent',
        case when (allowed.options->>'watermark')::boolean then account.logo_key end,
        coalesce(allowed.layer_products, jsonb_build_array(product.id, product.images_edition, product.title, product.description,
          product.images)))::text, 'UTF8')) end as fingerprint
      from allowed join product using (external_id) cross join account cross join shop
    ), earlier as (
      select id, fingerprint, (
        select made.id from generations as made
        where made.fingerprint = printed.fingerprint and status = 'COMPLETED' and images_expire_at > now()
          and engine_info->>'version' = ${reuse.version} and exists (select from objects where key = result_key)
          -- A product that was left out may work now.
          and layers @> '[{"applied": false}]' is not true
        order by finished_at desc limit 1) as source
      from printed
    ),`,
    columns: sql.fragment`, fingerprint, reused_from`,
    values: sql.fragment`, earlier.fingerprint, earlier.source`,
    join: sql.fragment`join earlier on earlier.id = allowed.id`,
    cost: sql.fragment`case when earlier.source is null then ${cost}::int else least(${reuse.credits}::int, ${cost}::int) end`,
    payload: sql.fragment`, 'reuse', (
          select jsonb_build_object('key', made.result_key, 'warnings', made.warnings, 'category', made.category, 'quality', made.quality,
            'engine', made.engine_info, 'ingredientSalt', made.ingredient_salt, 'layers', made.layers)
          from generations as made where made.id = generation.reused_from)`,
  }
}
