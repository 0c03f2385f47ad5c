import type { Size } from '../../raster/plane.ts'
import { createBytes } from '../diffusion/bytes.ts'
import { createParser, type Parser } from '../diffusion/parser/parse.ts'
import { createWholeBodyFinder, type WholeBodyFinder } from './dwpose/find-people.ts'
import type { Graphs } from './graphs.ts'

/** What models of others are for, where the operator has them. */
export interface Others {
  /** DWPose; without it BlazePose's points are drawn. */
  readonly wholeBody: WholeBodyFinder | null
  /** With one, what the person wears is painted over and products may be worn. */
  readonly parser: Parser | null
}

/**
 * What can be done with the graphs of others.
 * @throws Error that says which of them does not have the interface that it must have; nothing stays open then.
 */
export async function createOthers(graphs: Graphs): Promise<Others> {
  try {
    return {
      wholeBody: graphs.pose && createWholeBodyFinder(graphs.pose),
      parser: graphs.parsing && createParser(graphs.parsing),
    }
  } catch (error) {
    await graphs.release()
    throw error
  }
}

/** An empty picture shows no person, but the graphs have to have run once before a job, with numbers. */
export async function tryOthers({ wholeBody, parser }: Others, size: Size): Promise<void> {
  const blank = createBytes(size, 3)
  await wholeBody?.find(blank)
  await parser?.parse(blank)
}
