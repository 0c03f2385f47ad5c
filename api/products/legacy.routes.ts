import { isObject } from '../http/json-object.ts'
import type { Translated } from '../http/route-body.ts'
import { formatPath, type Path } from '../shared/contract/schema.ts'
import { unknownKeys } from '../shared/generations/generation.ts'

const PERSON_SOURCE = ['person', 'image', 'source']

/** Path of an image as the caller wrote it, e.g. `person.image` or `products[0].images[1]`. */
export function imageField(path: Path, written: Translated['written']): string {
  const source = written([...path, 'source'])
  return formatPath(source.at(-1) === 'source' ? source.slice(0, -1) : source)
}

/** Translates the body of a try-on call to the current format. The new format of a field takes precedence. */
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
  const warnings = [...replaced, ...misplaced, ...unknownOf(body, ['products', '0', 'images'])]
  return { body, written, isDeprecated, warnings }
}

/** A body of an outfit, which has no older format. */
export function describeOutfit(body: unknown): Translated {
  const unknown = indicesOf(valueAt(body, ['products'])).flatMap((i) => unknownOf(body, ['products', i, 'images']))
  const warnings = [...misplacedOf(body), ...new Set(unknown)]
  return { body, written: (path) => path, isDeprecated: false, warnings }
}

/** New fields of a try-on body by the older field that they replace. */
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

/**
 * Paths where callers misplace the ID of the person: an erasure of that person would then miss the photo and the
 * result.
 */
const MISPLACED_IDS: readonly Path[] = ['person', 'customer', 'output'].flatMap((parent) => [
  [parent, 'externalUserId'],
  [parent, 'customerId'],
])

function misplacedOf(body: unknown): string[] {
  return MISPLACED_IDS.some((path) => valueAt(body, path) != null) ? ['EXTERNAL_USER_ID_IGNORED'] : []
}

/** Warnings about classifications of images with unknown values, each once. */
function unknownOf(body: unknown, images: Path): string[] {
  const keys = indicesOf(valueAt(body, images)).flatMap((i) => {
    const classifications = valueAt(body, [...images, i, 'classifications'])
    return isObject(classifications) ? unknownKeys(classifications) : []
  })
  return [...new Set(keys)].map((key) => `CLASSIFICATION_${key.toUpperCase()}_IGNORED`)
}

/** Translates the body of a product to the current format. The new format of a field takes precedence. */
export function translateProduct(sent: unknown): Translated {
  const translation = createTranslation(sent)
  const { body, move, rename, written } = translation
  const addresses = valueAt(body, ['imageUrls'])
  if (addresses != null && valueAt(body, ['images']) == null) {
    rename(['images'], ['imageUrls'])
    for (const i of indicesOf(addresses)) move({ from: ['imageUrls', i], to: ['images', i, 'source', 'url'] })
    // An empty value or one that is not a list is rejected like `images`.
    move({ from: ['imageUrls'], to: ['images'] })
  }
  nestSources(translation, ['images'])
  const isDeprecated = addresses != null || translation.hasRenamed()
  return { body, written, isDeprecated, warnings: unknownOf(body, ['images']) }
}

/** Translates the fields of an upload to the current names. */
export function translateUpload(sent: Readonly<Record<string, unknown>>): Translated {
  const { body, move, written, hasRenamed } = createTranslation(sent)
  move({ from: ['customerId'], to: ['externalUserId'] })
  move({ from: ['retentionDays'], to: ['keepForDays'] })
  return { body, written, isDeprecated: hasRenamed(), warnings: [] }
}

/** Nests flat image entries of a list in `source`. */
function nestSources({ body, rename }: Translation, images: Path): void {
  for (const i of indicesOf(valueAt(body, images))) {
    const entry = valueAt(body, [...images, i])
    if (!isObject(entry) || entry.source != null) continue
    const { url, fileKey, sourceUrl } = entry
    if (url == null && fileKey == null && typeof sourceUrl === 'string') {
      // As returned by GET /products.
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

/** A copy of the sent body whose fields can be moved, and a record of their original paths. */
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
    /** Moves the value of one field to another, unless that field, or the one in `unless`, was sent as well. */
    move: ({ from, to, unless = to }: { from: Path; to: Path; unless?: Path }): void => {
      const value = valueAt(body, from)
      if (value == null || valueAt(body, unless) != null) return
      if (setAt(body, to, value)) rename(to, from)
    },
  }
}

/** Fields that contain movable fields. All others, such as metadata, are shared with the sent body. */
const PARENTS = ['products', 'product', 'images', 'person', 'image', 'source', 'customer', 'output']
/** Above the maximum length of all lists: the schema rejects longer lists, so their entries need no translation. */
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

/** Creates missing objects and lists on the path; false when another value is in the way. */
function setAt(value: unknown, [part, ...rest]: Path, leaf: unknown): boolean {
  if (!isParent(value)) return false
  if (rest.length === 0) value[part] = leaf
  else value[part] ??= /^\d+$/.test(rest[0]) ? [] : {}
  return rest.length === 0 || setAt(value[part], rest, leaf)
}

function indicesOf(value: unknown): string[] {
  return Array.isArray(value) && value.length <= MAX_TRANSLATED ? Object.keys(value) : []
}

function isParent(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}
