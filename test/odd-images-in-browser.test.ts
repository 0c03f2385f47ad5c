import type { Browser, Page } from 'puppeteer-core'
import sharp from 'sharp'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { normaliseImage } from '../api/shared/image/image.ts'
import { browserReason, startBrowser } from './support/browser.ts'
import { oddImages } from './support/odd-images.ts'

interface Shown {
  readonly width: number
  readonly height: number
  /** Mean red, green, blue and alpha of each quarter, from the top left one by rows. */
  readonly means: readonly number[]
}

const FILES = await oddImages()
/** Without an end marker the browser waits for the last rows of blocks, of which Drape has the pixels. */
const SHOWN_WITHOUT_LAST_ROWS = new Set(['no end marker', 'half an end marker'])
if (browserReason) console.warn(`Odd images in a browser are skipped: ${browserReason}`)

describe.skipIf(browserReason)(`odd images in a browser${browserReason && ` (skipped: ${browserReason})`}`, () => {
  let browser: Browser
  let page: Page
  beforeAll(async () => {
    browser = await startBrowser()
    page = await browser.newPage()
  })
  afterAll(() => browser?.close())

  it.each(FILES)('are rendered as Drape decodes them, except HEIC: $format with $name', async (file) => {
    const shown = await showInBrowser(page, file.bytes)
    if (file.format === 'HEIC') return expect(shown).toBeNull()
    const read = await readByDrape(file.bytes)
    expect(shown).toMatchObject({ width: read.width, height: read.height })
    const compared = file.format === 'JPEG' && SHOWN_WITHOUT_LAST_ROWS.has(file.name) ? 8 : 16
    const differences = read.means.map((mean, i) => Math.abs(mean - (shown?.means[i] ?? 0)))
    expect(Math.max(...differences.slice(0, compared))).toBeLessThan(3)
    if (compared === 8) expect(Math.max(...differences)).toBeGreaterThan(3)
  })
})

/** Runs in the page. */
const SHOW = `async (base64) => {
  const image = new Image()
  image.src = URL.createObjectURL(new Blob([Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0))]))
  const isShown = await image.decode().then(() => true, () => false)
  if (!isShown) return null
  const { naturalWidth: width, naturalHeight: height } = image
  const context = new OffscreenCanvas(width, height).getContext('2d')
  context.drawImage(image, 0, 0)
  return { width, height, rgba: [...context.getImageData(0, 0, width, height).data] }
}`

async function showInBrowser(page: Page, bytes: Buffer): Promise<Shown | null> {
  const shown = await page.evaluate(`(${SHOW})('${bytes.toString('base64')}')`)
  return shown === null ? null : toMeans(shown as { width: number; height: number; rgba: number[] })
}

async function readByDrape(bytes: Buffer): Promise<Shown> {
  const { bytes: stored } = await normaliseImage(bytes)
  const { data, info } = await sharp(stored).ensureAlpha().raw().toBuffer({ resolveWithObject: true })
  return toMeans({ width: info.width, height: info.height, rgba: data })
}

function toMeans({ width, height, rgba }: { width: number; height: number; rgba: ArrayLike<number> }): Shown {
  const means = new Array<number>(16).fill(0)
  for (let i = 0; i < rgba.length; i++) {
    const [x, y] = [(i >> 2) % width, Math.floor((i >> 2) / width)]
    const quarter = (y < height / 2 ? 0 : 2) + (x < width / 2 ? 0 : 1)
    means[4 * quarter + (i & 3)] += rgba[i] / ((width * height) / 4)
  }
  return { width, height, means }
}
