import type { Page } from 'puppeteer-core'

/** Texts that differ between runs, and their replacements in screenshots; times first, because other texts contain them. */
const CHANGING: readonly (readonly [string, string])[] = [
  ['\\d{4}-\\d\\d-\\d\\d[ T]\\d\\d:\\d\\d(:\\d\\d(\\.\\d+Z?)?)?', '2027-01-31 12:00:00'],
  ['\\d{4}-\\d\\d-\\d\\d', '2027-01-31'],
  ['[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}', '0190a1b2-c3d4-7e5f-8a6b-7c8d9e0f1a2b'],
  ['(acc|shop|gen|op|key|rem|endpoint|img|req)_…[\\w-]{6}', '$1_…0f1a2b'],
  ['(gen|prod)_[0-9a-f]{32}\\w*', '$1_0190a1b2c3d47e5f8a6b7c8d9e0f1a2b'],
  ['\\b([sp]k)_…\\w{4}', '$1_…a1B2'],
  ['\\b([sp]k|whsec)_[\\w-]{20,}', '$1_thisIsNotAKeyButHasTheLengthOfOne000'],
  ['shop-[0-9a-f]{6}\\.example', 'shop.example'],
  ['127\\.0\\.0\\.1:\\d+', 'drape.example'],
  // Secrets of authenticator apps and recovery codes.
  ['([A-Z2-7]{4} ){3,}[A-Z2-7]{4}', 'ABCD EFGH IJKL MNOP QRST UVWX YZ23 4567'],
  ['^[a-z\\d]{12}$', 'abcdefghjkmn'],
  ['^\\d\\d:\\d\\d$', '12:00'],
  ['^\\d\\d-\\d\\d$', '01-31'],
  ['\\b\\d+(\\.\\d+)? (s|min)\\b', '4.0 $2'],
]

/**
 * Makes a page look the same in every run: waits for fonts and images, stops animations, and replaces times, IDs and secrets by
 * fixed values. Only for screenshots.
 */
export async function stillPage(page: Page): Promise<void> {
  await page.evaluate(`(async () => {
    const changing = ${JSON.stringify(CHANGING)}.map(([pattern, text]) => [new RegExp(pattern, 'g'), text])
    const still = (text) => changing.reduce((now, [pattern, fixed]) => now.replace(pattern, fixed), text)
    const roots = [document]
    const changed = (globalThis.stilled = [])
    for (const root of roots) {
      const style = new CSSStyleSheet()
      style.replaceSync('*, ::before, ::after { animation: none !important; transition: none !important; caret-color: transparent !important }')
      root.adoptedStyleSheets = [...root.adoptedStyleSheets, style]
      const texts = document.createTreeWalker(root, NodeFilter.SHOW_TEXT)
      while (texts.nextNode()) {
        const { data } = texts.currentNode
        if (still(data) === data) continue
        changed.push([texts.currentNode, data])
        texts.currentNode.data = still(data)
      }
      for (const field of root.querySelectorAll('input:not([type=file], [type=hidden]), textarea')) {
        if (still(field.value) === field.value) continue
        changed.push([field, field.value])
        field.value = still(field.value)
      }
      for (const one of root.querySelectorAll('*')) if (one.shadowRoot) roots.push(one.shadowRoot)
      await Promise.all([...root.querySelectorAll('img')].map((image) => image.decode().catch(() => {})))
    }
    await document.fonts.ready
  })()`)
}

/** Restores the texts of the page, which tests read. */
export async function releasePage(page: Page): Promise<void> {
  await page.evaluate(`for (const [place, text] of globalThis.stilled) {
    if (place instanceof Text) place.data = text
    else place.value = text
  }`)
}
