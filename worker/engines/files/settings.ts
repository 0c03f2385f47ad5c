import { compileParser, type Static, Type } from '../../../api/shared/contract/schema.ts'
import { isReserved } from './marker.ts'

const FileSchema = Type.Object({
  /** Path relative to the folder. */
  path: Type.String({ minLength: 1, pattern: '^(?!/)(?!.*(^|/)\\.\\.(/|$)).+$' }),
  /** Lower-case hexadecimal. */
  sha256: Type.String({ pattern: '^[0-9a-f]{64}$' }),
  bytes: Type.Integer({ minimum: 1 }),
})

/** A file of an engine, as listed in its Engine resource. */
export type EngineFile = Static<typeof FileSchema>

/** Download source of the files. */
export interface FileSource {
  readonly url: string
  /** Value of the `authorization` header, if required. */
  readonly authorization: string | undefined
}

const parseFiles = compileParser(Type.Array(FileSchema, { minItems: 1 }))

/**
 * Parses `ENGINE_FOLDER`, `ENGINE_FILES` (JSON), `ENGINE_URL`, `ENGINE_AUTHORIZATION` and `PROBE_PORT`. `source` is null without a
 * URL, `probePort` unless the process is a sidecar.
 * @throws Error that names the missing or invalid variable
 */
export function readSettings(env: Readonly<Record<string, string | undefined>>): {
  folder: string
  files: readonly EngineFile[]
  source: FileSource | null
  probePort: number | null
} {
  const folder = env.ENGINE_FOLDER
  if (!folder) throw new Error('ENGINE_FOLDER must name a folder')
  const { ENGINE_URL: url, ENGINE_AUTHORIZATION: authorization } = env
  if (url && !URL.canParse(url)) throw new Error('ENGINE_URL is not a URL')
  const files = readFiles(env.ENGINE_FILES ?? '')
  const reserved = files.find(({ path }) => isReserved(path))
  if (reserved) throw new Error(`ENGINE_FILES must not contain ${reserved.path}`)
  return { folder, files, source: url ? { url, authorization } : null, probePort: readPort(env.PROBE_PORT) }
}

function readFiles(text: string): readonly EngineFile[] {
  try {
    return parseFiles(JSON.parse(text))
  } catch (cause) {
    throw new Error('ENGINE_FILES must be a JSON list of { path, sha256, bytes }', { cause })
  }
}

function readPort(text: string | undefined): number | null {
  if (!text) return null
  const port = /^\d+$/.test(text) ? Number(text) : Number.NaN
  if (Number.isNaN(port) || port < 1 || port > 65535) throw new Error('PROBE_PORT must be a port number')
  return port
}
