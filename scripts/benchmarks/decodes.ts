import { execFile } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { Benchmark } from './benchmark.ts'

const FORMATS = ['jpeg', 'png', 'webp'] as const
const COUNTING = fileURLToPath(new URL('decodes-process.ts', import.meta.url))

export const decodes: Benchmark = {
  id: 'C4',
  what: `full decodes of an uploaded image (${FORMATS.join(', ')}: the max) until it is stored`,
  unit: 'decodes',
  better: 'lower',
  goal: 1,
  measure: async ({ logFolder }) => {
    const photo = await readFile(new URL('../samples/persons/down-half-teal.jpg', import.meta.url))
    const path = join(logFolder, 'counted.jpg')
    await writeFile(path, photo)
    const { stdout } = await promisify(execFile)(process.execPath, [COUNTING, path, ...FORMATS])
    return { ours: Math.max(...(JSON.parse(stdout) as number[])), anchor: 1 }
  },
}
