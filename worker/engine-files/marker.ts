import { readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { compileCheck, type Static, Type } from '../../api/shared/schema.ts'

/** File in the folder of an engine that says that all of its files are complete and verified. */
export const MARKER = '.complete'

const MarkerSchema = Type.Object({
  /** Seconds from the start of the download until all files were verified. */
  seconds: Type.Number({ minimum: 0 }),
})
type Marker = Static<typeof MarkerSchema>

const check = compileCheck(MarkerSchema)

/** The marker appears with its content or not at all. */
export async function writeMarker(folder: string, marker: Marker): Promise<void> {
  const partial = join(folder, `${MARKER}.part`)
  await writeFile(partial, JSON.stringify(marker))
  await rename(partial, join(folder, MARKER))
}

/** Null while files of the engine are missing. */
export async function readMarker(folder: string): Promise<Marker | null> {
  const text = await readFile(join(folder, MARKER), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null
    throw error
  })
  if (text === null) return null
  const result = check(JSON.parse(text))
  if (!result.ok) throw new Error(`${join(folder, MARKER)}: is not a marker of complete files`)
  return result.value
}
