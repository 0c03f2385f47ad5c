import { createBytes } from '../../vision/raster/bytes.ts'
import type { Size } from '../../vision/raster/plane.ts'
import { createWholeBodyFinder, type WholeBodyFinder } from './dwpose/find-people.ts'
import type { Graphs } from './graphs.ts'
import { createParser, type Parser } from './parser/parse.ts'

/** Optional third-party models. */
export interface ThirdPartyModels {
  /** DWPose. Without it BlazePose's points are drawn. */
  readonly wholeBody: WholeBodyFinder | null
  /** With a parser, worn clothes are masked and product photos can show a person. */
  readonly parser: Parser | null
}

/**
 * Creates the third-party models from the opened graphs.
 * @throws Error that names the graph with a wrong interface; closes all graphs in that case.
 */
export async function createThirdPartyModels(graphs: Graphs): Promise<ThirdPartyModels> {
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

/** Runs every graph once before the first job. An empty image shows no person. */
export async function testThirdPartyModels({ wholeBody, parser }: ThirdPartyModels, size: Size): Promise<void> {
  const blank = createBytes(size, 3)
  await wholeBody?.find(blank)
  await parser?.parse(blank)
}
