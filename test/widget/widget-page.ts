import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'puppeteer-core'
import { ROOT } from '../../scripts/stack/session.ts'
import { until } from '../support/until.ts'

const WIDGET = `document.querySelector('drape-try-on').shadowRoot`

const FAILED = readErrorHeadings()

/** Headings of the error step in all languages. */
function readErrorHeadings(): string[] {
  return globSync('api/widget/texts/*.json', { cwd: ROOT }).map(
    (path) => JSON.parse(readFileSync(join(ROOT, path), 'utf8')).errorHeading,
  )
}

/** Drives the widget on a page as a shopper would. */
export function createWidgetPage(page: Page) {
  const evaluate = (body: string) => page.evaluate(`(() => { const root = ${WIDGET}; ${body} })()`)
  const heading = () => evaluate(`return root.querySelector('h2')?.textContent ?? ''`) as Promise<string>
  const focused = () => evaluate(`return root.activeElement?.textContent.trim() ?? ''`) as Promise<string>

  const errorText = () => evaluate(`return root.querySelector('[part=error]')?.textContent ?? ''`) as Promise<string>

  return {
    evaluate,
    heading,
    focused,
    /** Resolves when the button is visible. */
    arrive: () =>
      until(() =>
        page.evaluate(
          `(() => { const found = document.querySelector('drape-try-on')?.shadowRoot?.querySelector('.button')
            return found && !found.hidden && found.dataset.waiting === undefined })()`,
        ),
      ),
    /** Resolves when the dialog shows the step with this heading. Throws the error text if the dialog shows an error. */
    reach: async (text: string) => {
      const seen = await until(async () => {
        const now = await heading()
        return (now === text || FAILED.includes(now)) && now
      })
      if (seen !== text) throw new Error(`Instead of "${text}": ${await errorText()}`)
    },
    /** Waits for an error and resolves with its text. */
    fail: async () => {
      await until(async () => FAILED.includes(await heading()))
      return errorText()
    },
    text: (selector: string) =>
      evaluate(`return root.querySelector('${selector}')?.textContent ?? null`) as Promise<string | null>,
    click: (name: string) =>
      until(() =>
        evaluate(`const found = [...root.querySelectorAll('button')].find((button) => button.textContent.trim() === '${name}')
          found?.click()
          return found !== undefined`),
      ),
    /** Resolves when the camera preview plays. */
    film: () => until(() => evaluate(`return root.querySelector('.stage video')?.videoWidth > 0`)),
    /** Resolves when all finite animations have finished. */
    settle: () =>
      until(() =>
        evaluate(`return [root, ...root.querySelectorAll('dialog, .stage img')].flatMap((part) => part.getAnimations?.() ?? [])
          .every(({ playState, effect }) => playState === 'finished' || effect.getTiming().iterations === Infinity)`),
      ),
    /** Gives consent if the shop asks for it, and clicks the primary button of the dialog. */
    start: async () => {
      await until(() =>
        evaluate(`const place = root.querySelector('.panel [part=consent]')
          return place === null || place.dataset.loaded !== undefined`),
      )
      await evaluate(`const box = root.querySelector('#consent')
        if (box?.checked === false) box.click()
        root.querySelector('.panel .primary').click()`)
    },
    /** Red, green and blue of the result at a relative position (0 to 1), decoded by the page; null without a result. */
    colourAt: (x: number, y: number) =>
      page.evaluate(`(async () => {
        const { src } = ${WIDGET}.querySelector('.stage img') ?? {}
        if (!src) return null
        const image = Object.assign(new Image(), { crossOrigin: 'anonymous', src })
        await image.decode()
        const canvas = new OffscreenCanvas(image.naturalWidth, image.naturalHeight)
        const context = canvas.getContext('2d')
        context.drawImage(image, 0, 0)
        return [...context.getImageData(canvas.width * ${x}, canvas.height * ${y}, 1, 1).data.slice(0, 3)]
      })()`) as Promise<number[] | null>,
    /** Chooses a file in the file input. */
    choose: async (path: string) => {
      const input = await until(() => page.$('drape-try-on >>> input[type=file]'))
      await (input as Awaited<ReturnType<typeof page.$<'input'>>>)?.uploadFile(path)
    },
    /** Presses Tab until the element with this name has the focus. */
    tabTo: async (name: string) => {
      for (let i = 0; i < 60; i++) {
        await page.keyboard.press('Tab')
        if ((await focused()) === name) return
      }
      throw new Error(`Tab does not lead to "${name}"`)
    },
  }
}

export type WidgetPage = ReturnType<typeof createWidgetPage>
