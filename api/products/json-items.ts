import { isObject } from '../http/json-object.ts'
import { invalidFile, type TextItem } from './entry.ts'

/** Maximum length of the text around the products. */
const MAX_FRAME_CHARACTERS = 64 * 1024

/**
 * Splits `{ "products": […] }`, or a bare array, into the texts of its items. Throws `VALIDATION_FAILED` for any other
 * format.
 */
export async function* splitJsonItems(chunks: AsyncIterable<string>, maxCharacters: number): AsyncGenerator<TextItem> {
  const marks = /["\\{}[\],\n]/g
  const scan = { depth: 0, inString: false, escaped: false, line: 1 }
  let frame = ''
  let item = ''
  let itemLine = 1
  /** Depth of the array's items; 0 outside of the array. */
  let itemDepth = 0
  let found = false
  const next = (chunk: string) => marks.exec(chunk)?.index ?? -1
  const add = (text: string) => {
    if (itemDepth === 0) frame += text
    else item += text
  }
  const takeItem = (): TextItem => {
    const leading = /^\s*/.exec(item)?.[0] ?? ''
    const taken = { line: itemLine + leading.split('\n').length - 1, text: item.trim() }
    item = ''
    itemLine = scan.line
    return taken
  }

  for await (const chunk of chunks) {
    let from = 0
    marks.lastIndex = 0
    if (scan.escaped && chunk !== '') {
      scan.escaped = false
      marks.lastIndex = 1
    }
    for (let at = next(chunk); at >= 0; at = next(chunk)) {
      const mark = chunk[at]
      if (mark === '\n') scan.line++
      if (scan.inString) {
        if (mark === '"') scan.inString = false
        if (mark === '\\') {
          if (at + 1 < chunk.length) marks.lastIndex = at + 2
          else scan.escaped = true
        }
        continue
      }
      const isItemEnd = itemDepth > 0 && scan.depth === itemDepth && (mark === ',' || mark === ']')
      if (isItemEnd) {
        item += chunk.slice(from, at)
        const taken = takeItem()
        from = at + 1
        if (mark === ']') {
          itemDepth = 0
          scan.depth--
          frame += ']'
          if (taken.text !== '') yield taken
        } else yield taken
      } else if (mark === '"') scan.inString = true
      else if (mark === '{') scan.depth++
      else if (mark === '}' || mark === ']') scan.depth--
      else if (mark === '[') {
        scan.depth++
        if (!found && itemDepth === 0 && isProductsArray(frame + chunk.slice(from, at), scan.depth)) {
          frame += chunk.slice(from, at + 1)
          from = at + 1
          found = true
          itemDepth = scan.depth
          itemLine = scan.line
        }
      }
    }
    add(chunk.slice(from))
    if (item.length > maxCharacters) throw invalidFile('is longer than 1 MB', `line ${itemLine}`)
    if (frame.length > MAX_FRAME_CHARACTERS) throw invalidFile('has too much text outside of its products')
  }
  if (!isFrame(frame)) throw invalidFile('must be JSON of the form { "products": […] }')
}

function isProductsArray(before: string, depth: number): boolean {
  return depth === 1 ? before.trim() === '' : depth === 2 && /[{,]\s*"products"\s*:\s*$/.test(before)
}

/** Whether the text without the items is valid JSON with one empty list of products. */
function isFrame(frame: string): boolean {
  try {
    const value: unknown = JSON.parse(frame)
    const products = isObject(value) ? value.products : value
    return Array.isArray(products) && products.length === 0
  } catch {
    return false
  }
}
