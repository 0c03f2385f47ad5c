import { join } from 'node:path'
import { type Pair, readPair } from '../../../../scripts/quality/pair.ts'
import { partsOf, personIn } from '../../../support/vision.ts'
import { prepareGarment } from '../../vision/garment/prepare-by-outline.ts'
import { type Fitted, layGarment } from './lay-garment.ts'

const FIXTURES = join(import.meta.dirname, '../../../fixtures')

/** A top of the fixtures fitted to a rendered figure with ground truth. */
export async function layOnFigure(names: {
  person: string
  garment: string
}): Promise<Fitted & { readonly figure: Pair['figure'] }> {
  const { figure, garment } = await readPair(FIXTURES, { ...names, part: 'top' })
  const prepared = prepareGarment(garment.bitmap, { category: 'tops' })
  if (prepared.kind !== 'top') throw new Error(`${names.garment} is a ${prepared.kind}`)
  const person = await personIn(figure.bitmap)
  return { figure, ...layGarment(person, figure.bitmap, prepared, await partsOf(figure.bitmap, person)) }
}
