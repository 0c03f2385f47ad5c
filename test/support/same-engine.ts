import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import { fingerprintFiles } from './fingerprints.ts'

/** Expects byte-identical files except for computed numbers, because processors round differently. */
export async function expectSameEngine(found: string, wanted: string): Promise<void> {
  const { 'engine.json': _, 'kubernetes.yaml': __, ...graphs } = await fingerprintFiles(wanted)
  expect(await fingerprintFiles(found)).toMatchObject(graphs)
  const [{ golden, ...manifest }, reference] = await Promise.all([found, wanted].map(readManifest))
  expect({ ...manifest, golden: reference.golden }).toEqual(reference)
  expect(golden).toHaveLength(256)
  for (const [i, value] of golden.entries()) expect(Math.abs(value - reference.golden[i]), `${i}`).toBeLessThan(1e-4)
}

async function readManifest(folder: string): Promise<{ golden: number[] }> {
  return JSON.parse(await readFile(join(folder, 'engine.json'), 'utf8'))
}
