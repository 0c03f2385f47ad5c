import { Nullable, type Static, Type } from '../../shared/contract/schema.ts'
import { type Database, rowType, sql } from '../../shared/database/database.ts'

const PublishedEngineRow = Type.Object({
  name: Type.String(),
  license: Type.String(),
  /** Total slots of the pools that may run the engine; 0 when no pool can scale up for the engine. */
  maxSlots: Type.Integer(),
  startSeconds: Nullable(Type.Number()),
  /** Max seconds that the pools give a worker to open its models. */
  warmupSeconds: Nullable(Type.Integer()),
  /** Garment types that the Engine resource declares; null: as the workers declare. */
  garmentTypes: Nullable(Type.Array(Type.String())),
})
export type PublishedEngine = Static<typeof PublishedEngineRow>

/** Age above which a published state counts as stale: the controller has stopped scaling pools. */
const STALE_MINUTES = 15

/** Engine resources as published by the controller; empty without a controller. */
export function createPublishedEngines(database: Database) {
  return {
    find: (): Promise<readonly PublishedEngine[]> =>
      database.any(sql.type(rowType(PublishedEngineRow))`
        select name, min(license) as license, sum(max_slots)::int as "maxSlots", max(start_seconds) as "startSeconds", max(warmup_seconds) as "warmupSeconds",
          jsonb_agg(garment_types order by namespace) filter (where garment_types is not null)->0 as "garmentTypes"
        from published_engines where published_at > now() - make_interval(mins => ${STALE_MINUTES}) group by name`),
  }
}

export type PublishedEngines = ReturnType<typeof createPublishedEngines>
