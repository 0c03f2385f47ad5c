import { parseJsonOrNull } from '../contract/json-or-null.ts'
import { compileCheck, type Static, Type } from '../contract/schema.ts'
import { CATEGORIES } from '../generations/generation.ts'
import type { Redis } from '../queue/redis.ts'
import { ENGINE_KINDS } from './engine-catalogue.ts'

const KEY = 'drape:engines'

const EngineCardSchema = Type.Object({
  version: Type.String(),
  kind: Type.Enum([...ENGINE_KINDS]),
  license: Type.String(),
  categories: Type.Array(Type.Enum([...CATEGORIES])),
  garmentTypes: Type.Optional(Type.Array(Type.String())),
  /** Absent: no. */
  outfits: Type.Optional(Type.Boolean()),
  /** Absent in reports of older workers: 1. */
  maxCount: Type.Optional(Type.Integer({ minimum: 1 })),
  /** Time of the last report of a worker, in ms since 1970. */
  seenAt: Type.Number(),
})
/** Manifest of an engine as reported by workers. Outlives the workers, but not the data of Redis. */
export type EngineCard = Static<typeof EngineCardSchema>

/** Store of the engine descriptions that workers report and the API lists. */
export function createEngineCards({ client }: Pick<Redis, 'client'>) {
  const check = compileCheck(EngineCardSchema)
  return {
    report: async (cards: ReadonlyMap<string, EngineCard>): Promise<void> => {
      if (cards.size === 0) return
      await client.hSet(KEY, Object.fromEntries([...cards].map(([name, card]) => [name, JSON.stringify(card)])))
    },
    find: async (): Promise<Map<string, EngineCard>> => {
      const entries = Object.entries(await client.hGetAll(KEY))
      return new Map(
        entries.flatMap(([name, text]) => {
          const result = check(parseJsonOrNull(text))
          return result.ok ? [[name, result.value] as const] : []
        }),
      )
    },
  }
}

export type EngineCards = ReturnType<typeof createEngineCards>
