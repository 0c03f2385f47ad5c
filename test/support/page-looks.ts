import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Page } from 'puppeteer-core'
import { expect } from 'vitest'

/** Folder for screenshots of the pages; without it, none are taken. */
const SCREENSHOTS = process.env.SCREENSHOTS
const AXE = fileURLToPath(import.meta.resolve('axe-core/axe.min.js'))
export const SIZES = { desktop: { width: 1280, height: 800 }, phone: { width: 390, height: 844 } }
const SCHEMES = ['light', 'dark'] as const
/** Each size and each scheme once. The long form, and a run for screenshots, use all four combinations. */
const EACH_ONCE = ['desktop light', 'phone dark']
const SEES_ALL = SCREENSHOTS !== undefined || process.env.LONG_TESTS !== undefined
/** Whether people look at the results of try-ons: they must be those of the warp engine. */
export const showsResults = SCREENSHOTS !== undefined

type Size = keyof typeof SIZES

export interface Looks {
  readonly name: string
  readonly open?: () => Promise<unknown>
  readonly fullPage?: boolean
  /** Default: all. */
  readonly sizes?: readonly Size[]
}

interface Finding {
  readonly id: string
  readonly nodes: readonly { readonly html: string }[]
}

/**
 * Inspects a page on a desktop and a phone, in light and dark. Returns what axe finds, and where. Saves screenshots under
 * this name if `SCREENSHOTS` is set; without `fullPage` they end at the edge of the window. `open` runs after each change
 * of the size or the scheme.
 */
export async function inspectLooks(
  page: Page,
  { name, open = async () => {}, fullPage = true, sizes = Object.keys(SIZES) as Size[] }: Looks,
): Promise<string[]> {
  const violations: string[] = []
  for (const size of sizes) {
    const viewport = SIZES[size]
    for (const scheme of SCHEMES) {
      const look = `${size} ${scheme}`
      if (!SEES_ALL && !EACH_ONCE.includes(look)) continue
      await page.setViewport(viewport)
      await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }])
      await open()
      if (SCREENSHOTS)
        await page.screenshot({ path: join(SCREENSHOTS, `${name}-${size}-${scheme}.png`) as `${string}.png`, fullPage })
      violations.push(...(await inspect(page)).map((violation) => `${name} ${look}: ${violation}`))
    }
  }
  return violations
}

async function inspect(page: Page): Promise<string[]> {
  // Pages may forbid scripts; the browser protocol runs it anyway.
  await page.evaluate(await readFile(AXE, 'utf8'))
  const found = (await page.evaluate('axe.run()')) as Record<'passes' | 'violations', Finding[]>
  // axe would also accept a page in which it sees nothing.
  expect(found.passes.length).toBeGreaterThan(10)
  return found.violations.map(({ id, nodes }) => `${id} in ${nodes[0].html}`)
}
