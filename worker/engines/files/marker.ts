import { readFile, rename, writeFile } from 'node:fs/promises'
import { join, normalize } from 'node:path'
import { parseJsonOrNull } from '../../../api/shared/contract/json-or-null.ts'
import { compileCheck, type Static, Type } from '../../../api/shared/contract/schema.ts'

/** File in the folder of an engine that says that all of its files are complete and verified. */
const MARKER = '.complete'
const PARTIAL = `${MARKER}.part`

const MarkerSchema = Type.Object({
  /** Seconds from the start of the download until all files were verified. */
  seconds: Type.Number({ minimum: 0 }),
})
type Marker = Static<typeof MarkerSchema>

const check = compileCheck(MarkerSchema)

/** Whether a path in the folder of an engine is the marker, or a file that the marker needs. */
export function isReserved(path: string): boolean {
  const [first] = normalize(path).split('/')
  return first === MARKER || first === PARTIAL
}

/** The marker appears with its content or not at all. */
export async function writeMarker(folder: string, marker: Marker): Promise<void> {
  const partial = join(folder, PARTIAL)
  await writeFile(partial, JSON.stringify(marker), { flush: true })
  await rename(partial, join(folder, MARKER))
}

/** Null while files of the engine are missing, or if a crash of the node has left a damaged marker: the files are verified again. */
export async function readMarker(folder: string): Promise<Marker | null> {
  const text = await readFile(join(folder, MARKER), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null
    throw error
  })
  if (text === null) return null
  const result = check(parseJsonOrNull(text))
  return result.ok ? result.value : null
}
