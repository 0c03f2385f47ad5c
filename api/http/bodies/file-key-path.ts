import { DrapeError } from '../../shared/contract/errors.ts'
import { formatPath, type Path } from '../../shared/contract/schema.ts'
import { parseBoundedJson } from './bounded-json.ts'

/** Fields that contain images, in the current and older body formats. */
const PARENTS = ['products', 'product', 'images', 'person', 'image', 'source', 'customer']
/** Depth of `products[0].images[1].source`. */
const MAX_DEPTH = 5

/** Path of the image with this `fileKey` in the form's JSON, e.g. `products[0].images[1]`; null when there is none. */
export function findFileKey(json: string, fileKey: string): string | null {
  const path = pathTo(parse(json), fileKey, MAX_DEPTH)
  if (path === null || path.length === 0) return null
  return formatPath(path.at(-1) === 'source' ? path.slice(0, -1) : path)
}

function parse(json: string): unknown {
  try {
    return parseBoundedJson(json, '')
  } catch (error) {
    if (error instanceof DrapeError) return null
    throw error
  }
}

function pathTo(value: unknown, fileKey: string, depth: number): Path | null {
  if (typeof value !== 'object' || value === null) return null
  if (Object.hasOwn(value, 'fileKey') && (value as { fileKey: unknown }).fileKey === fileKey) return []
  for (const [part, inner] of Object.entries(value)) {
    if (depth === 0 || (!Array.isArray(value) && !PARENTS.includes(part))) continue
    const rest = pathTo(inner, fileKey, depth - 1)
    if (rest !== null) return [part, ...rest]
  }
  return null
}
