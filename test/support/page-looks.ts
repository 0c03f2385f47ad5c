import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Page } from 'puppeteer-core'
import { expect } from 'vitest'

/** Pictures of the pages are left there for whoever wants to see them. */
const SCREENSHOTS = process.env.SCREENSHOTS
const AXE = fileURLToPath(import.meta.resolve('axe-core/axe.min.js'))
export const SIZES = { desktop: { width: 1280, height: 800 }, phone: { width: 390, height: 844 } }
const SCHEMES = ['light', 'dark'] as const

interface Finding {
  readonly id: string
  readonly nodes: readonly { readonly html: string }[]
}

/**
 * Looks at a page large and small, light and dark, and leaves pictures of it under this name where they are asked for. Returns
 * what axe finds, and where. `open` comes after each change of the size or the scheme. Without `fullPage` pictures end where
 * the window does.
 */
export async function inspectLooks(
  page: Page,
  { name, open = async () => {}, fullPage = true }: { name: string; open?: () => Promise<unknown>; fullPage?: boolean },
): Promise<string[]> {
  const violations: string[] = []
  for (const [size, viewport] of Object.entries(SIZES)) {
    await page.setViewport(viewport)
    for (const scheme of SCHEMES) {
      await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }])
      await open()
      if (SCREENSHOTS) {
        await page.screenshot({ path: join(SCREENSHOTS, `${name}-${size}-${scheme}.png`) as `${string}.png`, fullPage })
      }
      violations.push(...(await inspect(page)).map((violation) => `${name} ${size} ${scheme}: ${violation}`))
    }
  }
  return violations
}

async function inspect(page: Page): Promise<string[]> {
  // Pages may allow no script; the protocol of the browser runs it all the same.
  await page.evaluate(await readFile(AXE, 'utf8'))
  const found = (await page.evaluate('axe.run()')) as Record<'passes' | 'violations', Finding[]>
  // A page of which axe sees nothing would pass too.
  expect(found.passes.length).toBeGreaterThan(10)
  return found.violations.map(({ id, nodes }) => `${id} in ${nodes[0].html}`)
}
