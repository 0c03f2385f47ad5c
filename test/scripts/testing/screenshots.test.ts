import { existsSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import {
  compareScreenshots,
  describeComparison,
  keepLastScreenshots,
  markComplete,
} from '../../../scripts/testing/screenshots.ts'

it('compares screenshots with those of the previous run', () => {
  const folder = mkdtempSync(join(tmpdir(), 'drape-screenshots-'))
  const write = (files: Record<string, string>) => {
    for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, `${name}.png`), content)
  }
  expect(describeComparison(compareScreenshots(folder))).toEqual([
    'There are no screenshots of an earlier run to compare with.',
  ])
  write({ oldest: '1' })
  keepLastScreenshots(folder)
  write({ same: '1', changed: '1', gone: '1' })
  markComplete(folder)
  keepLastScreenshots(folder)
  expect(existsSync(join(folder, 'last/oldest.png'))).toBe(false)
  // Without a new run, the last one stays.
  keepLastScreenshots(folder)
  // An aborted run replaces only its own screenshots.
  write({ same: '1' })
  keepLastScreenshots(folder)
  write({ same: '1', changed: '2', added: '1' })
  expect(describeComparison(compareScreenshots(folder))).toEqual([
    '1 of 3 screenshots are equal to those of the last run.',
    'Changed: changed.png',
    'New: added.png',
    'Missing: gone.png',
  ])
})
