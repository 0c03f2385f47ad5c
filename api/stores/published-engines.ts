import { type Database, rowType, sql } from '../shared/database/database.ts'
import { Nullable, type Static, Type } from '../shared/schema.ts'

const PublishedEngineRow = Type.Object({
  name: Type.String(),
  license: Type.String(),
  /** Slots of all pools that may run the engine; 0 when no pool can scale to run the engine. */
  maxSlots: Type.Integer(),
  startSeconds: Nullable(Type.Number()),
  /** What the Engine resource says the engine accepts; null leaves that to the workers. */
  garmentTypes: Nullable(Type.Array(Type.String())),
})
export type PublishedEngine = Static<typeof PublishedEngineRow>

/** A controller that has not published for longer no longer scales pools. */
const STALE_MINUTES = 15

/** Engine resources as the controller publishes them; none where no controller runs. */
export function createPublishedEngines(database: Database) {
  return {
    find: (): Promise<readonly PublishedEngine[]> =>
      database.any(sql.type(rowType(PublishedEngineRow))`
        select name, min(license) as license, sum(max_slots)::int as "maxSlots", max(start_seconds) as "startSeconds",
          jsonb_agg(garment_types order by namespace) filter (where garment_types is not null)->0 as "garmentTypes"
        from published_engines where published_at > now() - make_interval(mins => ${STALE_MINUTES}) group by name`),
  }
}

export type PublishedEngines = ReturnType<typeof createPublishedEngines>
