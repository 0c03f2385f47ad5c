import { isObject } from '../../json-object.ts'
import { formatPath, type Path } from '../../shared/schema.ts'
import type { Translated } from '../body.ts'

const PERSON_SOURCE = ['person', 'image', 'source']

/** The field of an image as the caller wrote it: `person.image` or `products[0].images[1]`. */
export function imageField(path: Path, written: Translated['written']): string {
  const source = written([...path, 'source'])
  return formatPath(source.at(-1) === 'source' ? source.slice(0, -1) : source)
}

/** The body of a try-on call in today's shape. Of a field that was sent in both shapes the new one stays. */
export function translateTryOn(sent: unknown): Translated {
  const translation = createTranslation(sent)
  const { body, move, written } = translation
  const replaced = warningsOf(body)
  const misplaced = misplacedOf(body)
  move({ from: ['product'], to: ['products', '0'], unless: ['products'] })
  move({ from: ['customer', 'source'], to: PERSON_SOURCE, unless: ['person'] })
  move({ from: ['customer'], to: PERSON_SOURCE, unless: ['person'] })
  move({ from: ['customerId'], to: ['externalUserId'] })
  move({ from: ['useWatermark'], to: ['output', 'watermark'] })
  move({ from: ['retentionDays'], to: ['output', 'keepForDays'] })
  for (const i of indicesOf(valueAt(body, ['products']))) nestSources(translation, ['products', i, 'images'])
  const isDeprecated = replaced.length > 0 || translation.hasRenamed()
  return { body, written, isDeprecated, warnings: [...replaced, ...misplaced] }
}

/** The new fields of a try-on body by the older field that stands for them. */
const REPLACED_BY: Readonly<Record<string, Path>> = {
  product: ['products'],
  customer: ['person'],
  customerId: ['externalUserId'],
  useWatermark: ['output', 'watermark'],
  retentionDays: ['output', 'keepForDays'],
}

function warningsOf(body: unknown): string[] {
  return Object.entries(REPLACED_BY)
    .filter(([older, newer]) => valueAt(body, [older]) != null && valueAt(body, newer) != null)
    .map(([older]) => `${older.replace(/[A-Z]/g, '_$&').toUpperCase()}_IGNORED`)
}

/** Where callers put the id of the person by mistake: an erasure of that person would then miss the photo and the result. */
const MISPLACED_IDS: readonly Path[] = ['person', 'customer', 'output'].flatMap((parent) => [
  [parent, 'externalUserId'],
  [parent, 'customerId'],
])

function misplacedOf(body: unknown): string[] {
  return MISPLACED_IDS.some((path) => valueAt(body, path) != null) ? ['EXTERNAL_USER_ID_IGNORED'] : []
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
  return { body, written, isDeprecated: addresses != null || translation.hasRenamed(), warnings: [] }
}

/** The fields of an upload in today's names. */
export function translateUpload(sent: Readonly<Record<string, unknown>>): Translated {
  const { body, move, written, hasRenamed } = createTranslation(sent)
  move({ from: ['customerId'], to: ['externalUserId'] })
  move({ from: ['retentionDays'], to: ['keepForDays'] })
  return { body, written, isDeprecated: hasRenamed(), warnings: [] }
}

/** Gives the flat image entries of a list their `source`. */
function nestSources({ body, rename }: Translation, images: Path): void {
  for (const i of indicesOf(valueAt(body, images))) {
    const entry = valueAt(body, [...images, i])
    if (!isObject(entry) || entry.source != null) continue
    const { url, fileKey, sourceUrl } = entry
    if (url == null && fileKey == null && typeof sourceUrl === 'string') {
      // As GET /products returns it.
      entry.source = { url: sourceUrl }
      rename([...images, i, 'source', 'url'], [...images, i, 'sourceUrl'], { isDeprecated: false })
      continue
    }
    if (url === undefined && fileKey === undefined) continue
    entry.source = { ...(url !== undefined && { url }), ...(fileKey !== undefined && { fileKey }) }
    rename([...images, i, 'source'], [...images, i])
  }
}

type Translation = ReturnType<typeof createTranslation>

/** A copy of what was sent in which fields can be moved, and the memory of where they were. */
function createTranslation(sent: unknown) {
  const body = copyOf(sent)
  const renames: { readonly path: Path; readonly written: Path; readonly isDeprecated: boolean }[] = []

  function written(path: Path): Path {
    const [innermost] = renames
      .filter((rename) => rename.path.every((part, i) => part === path[i]))
      .sort((a, b) => b.path.length - a.path.length)
    return innermost ? [...innermost.written, ...path.slice(innermost.path.length)] : path
  }

  function rename(path: Path, from: Path, { isDeprecated = true } = {}): void {
    renames.push({ path, written: written(from), isDeprecated })
  }

  return {
    body,
    written,
    rename,
    hasRenamed: () => renames.some(({ isDeprecated }) => isDeprecated),
    /** Puts the value of one field where another belongs, unless that, or what is named instead, was sent as well. */
    move: ({ from, to, unless = to }: { from: Path; to: Path; unless?: Path }): void => {
      const value = valueAt(body, from)
      if (value == null || valueAt(body, unless) != null) return
      if (putAt(body, to, value)) rename(to, from)
    },
  }
}

/** Fields that lead to fields that are moved. Everything else, such as metadata, is shared with what was sent. */
const PARENTS = ['products', 'product', 'images', 'person', 'image', 'source', 'customer', 'output']
/** More than any list may have: the schema refuses longer ones, so their entries need no translation. */
const MAX_TRANSLATED = 100

function copyOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.length > MAX_TRANSLATED ? value : value.map(copyOf)
  if (!isParent(value)) return value
  const copy = { ...value }
  for (const name of PARENTS) if (Object.hasOwn(copy, name)) copy[name] = copyOf(copy[name])
  return copy
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
  return Array.isArray(value) && value.length <= MAX_TRANSLATED ? Object.keys(value) : []
}

function isParent(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}
