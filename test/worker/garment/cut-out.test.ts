import { describe, expect, it } from 'vitest'
import { cutOut } from '../../../worker/garment/cut-out.ts'
import { overlap, readGarment } from './garment-pictures.ts'

describe('cutOut', () => {
  it.each([
    ['longsleeve_grey', 0.985],
    ['tshirt_mustard', 0.995],
    ['tshirt_navy', 0.995],
    ['trousers_black', 0.99],
  ])('finds the pixels of %s', async (name, least) => {
    const { picture, mask } = await readGarment(name)
    const { alpha } = cutOut(picture)
    expect(overlap(mask, alpha)).toBeGreaterThan(least)
  })
})
