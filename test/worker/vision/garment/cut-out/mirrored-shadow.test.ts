import { describe, expect, it } from 'vitest'
import { cutOut } from '../../../../../worker/vision/garment/cut-out/cut-out.ts'
import { findOutline } from '../../../../../worker/vision/garment/outline/outline.ts'
import { readGarment } from '../known-garments.ts'

describe('a shadow in the gap under one sleeve', () => {
  it('does not hide the gap', async () => {
    const { bitmap, landmarks, mask } = await readGarment('longsleeve_grey')
    const { alpha } = cutOut(bitmap)
    const [armpit, cuff] = [landmarks.get('armpit_l'), landmarks.get('sleeve_in_l')]
    if (!armpit || !cuff) throw new Error('the garment has no left sleeve')
    let gap = 0
    let seen = 0
    for (let y = Math.round(armpit.y + 0.25 * (cuff.y - armpit.y)); y < cuff.y; y++) {
      for (let x = Math.round(cuff.x); x < armpit.x; x++) {
        const i = y * bitmap.width + x
        if (mask.data[i]) continue
        gap++
        if (alpha.data[i] < 0.5) seen++
      }
    }
    expect(seen / gap).toBeGreaterThan(0.95)
    const outline = findOutline(alpha, { expected: 'upper' })
    expect(outline.kind === 'top' && outline.guessedArmpits).toEqual([false, false])
  })
})
