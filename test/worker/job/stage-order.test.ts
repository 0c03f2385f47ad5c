import { globSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ENGINE_STAGES, STAGES } from '../../../api/shared/engines/stage-order.ts'

const ROOT = resolve(import.meta.dirname, '../../../worker')

/** Names that the worker's sources pass to `call`, in the order of the sources. */
function measured(call: string): string[] {
  const sources = globSync('**/*.ts', { cwd: ROOT }).map((path) => readFileSync(join(ROOT, path), 'utf8'))
  return sources.flatMap((text) =>
    [...text.matchAll(new RegExp(`\\b${call}\\('([^']+)'`, 'g'))].map(([, name]) => name),
  )
}

describe('the order of stages', () => {
  it('has exactly the stages that the worker measures, those of engines under names of their own', () => {
    expect(new Set(measured('clock\\.lap'))).toEqual(new Set(STAGES))
    expect(new Set(measured('stages\\.run'))).toEqual(new Set(ENGINE_STAGES))
    const shared: readonly string[] = STAGES
    expect(ENGINE_STAGES.filter((name) => shared.includes(name))).toEqual([])
  })
})
