import { isObject } from '../../json-object.ts'
import type { Path } from '../../shared/schema.ts'

/** A request in today's shape. */
export interface Translated {
  readonly body: unknown
  /** Where the caller wrote what lies at this path of `body`. */
  readonly written: (path: Path) => Path
}

const PERSON_SOURCE = ['person', 'image', 'source']

/** The body of a try-on call in today's shape. Of a field that was sent in both shapes the new one stays. */
export function translateTryOn(sent: unknown): Translated {
  const translation = createTranslation(sent)
  const { body, move, written } = translation
  move({ from: ['product'], to: ['products', '0'], unless: ['products'] })
  move({ from: ['customer', 'source'], to: PERSON_SOURCE, unless: ['person'] })
  move({ from: ['customer'], to: PERSON_SOURCE, unless: ['person'] })
  move({ from: ['customerId'], to: ['externalUserId'] })
  move({ from: ['useWatermark'], to: ['output', 'watermark'] })
  move({ from: ['retentionDays'], to: ['output', 'keepForDays'] })
  for (const i of indicesOf(valueAt(body, ['products']))) nestSources(translation, ['products', i, 'images'])
  return { body, written }
}

/** The body of a product in today's shape. Of a field that was sent in both shapes the new one stays. */
export function translateProduct(sent: unknown): Translated {
  const translation = createTranslation(sent)
  const { body, move, rename, written } = translation
  const addresses = valueAt(body, ['imageUrls'])
  if (addresses != null && valueAt(body, ['images']) == null) {
    rename(['images'], ['imageUrls'])
    for (const i of indicesOf(addresses)) move({ from: ['imageUrls', i], to: ['images', i, 'source', 'url'] })
    // What is no list, or empty, is refused like the images that it stands for.
    move({ from: ['imageUrls'], to: ['images'] })
  }
  nestSources(translation, ['images'])
  return { body, written }
}

/** The fields of an upload in today's names. */
export function translateUpload(sent: Readonly<Record<string, unknown>>): Translated {
  const { body, move, written } = createTranslation(sent)
  move({ from: ['customerId'], to: ['externalUserId'] })
  move({ from: ['retentionDays'], to: ['keepForDays'] })
  return { body, written }
}

/** Gives the flat image entries of a list their `source`. */
function nestSources({ body, rename }: Translation, images: Path): void {
  for (const i of indicesOf(valueAt(body, images))) {
    const entry = valueAt(body, [...images, i])
    if (!isObject(entry) || entry.source != null || (entry.url === undefined && entry.fileKey === undefined)) continue
    const { url, fileKey } = entry
    entry.source = { ...(url !== undefined && { url }), ...(fileKey !== undefined && { fileKey }) }
    rename([...images, i, 'source'], [...images, i])
  }
}

type Translation = ReturnType<typeof createTranslation>

/** A copy of what was sent in which fields can be moved, and the memory of where they were. */
function createTranslation(sent: unknown) {
  const body: unknown = structuredClone(sent)
  const renames: { readonly path: Path; readonly written: Path }[] = []

  function written(path: Path): Path {
    const [innermost] = renames
      .filter((rename) => rename.path.every((part, i) => part === path[i]))
      .sort((a, b) => b.path.length - a.path.length)
    return innermost ? [...innermost.written, ...path.slice(innermost.path.length)] : path
  }

  function rename(path: Path, from: Path): void {
    renames.push({ path, written: written(from) })
  }

  return {
    body,
    written,
    rename,
    /** Puts the value of one field where another belongs, unless that, or what is named instead, was sent as well. */
    move: ({ from, to, unless = to }: { from: Path; to: Path; unless?: Path }): void => {
      const value = valueAt(body, from)
      if (value == null || valueAt(body, unless) != null) return
      if (putAt(body, to, value)) rename(to, from)
    },
  }
}

function valueAt(value: unknown, path: Path): unknown {
  return path.reduce<unknown>((inner, part) => {
    return isParent(inner) && Object.hasOwn(inner, part) ? inner[part] : undefined
  }, value)
}

/** Makes the objects and lists on the way; false when something else is in the way. */
function putAt(value: unknown, [part, ...rest]: Path, leaf: unknown): boolean {
  if (!isParent(value)) return false
  if (rest.length === 0) value[part] = leaf
  else value[part] ??= /^\d+$/.test(rest[0]) ? [] : {}
  return rest.length === 0 || putAt(value[part], rest, leaf)
}

function indicesOf(value: unknown): string[] {
  return Array.isArray(value) ? Object.keys(value) : []
}

function isParent(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}
