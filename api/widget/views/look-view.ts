import { button, element, icon } from '../markup.ts'
import type { Texts } from '../texts.ts'

/** Centre of the zoom without a click, in shares of the image. */
const CHEST = { x: 0.5, y: 0.4 }

/**
 * The image of a result, to be zoomed and compared: a slider covers it with its photo, from the left in every language. `photo` are the
 * URLs of the photo; without one that the browser can show, there is no slider, and without the image no control.
 */
export function presentLook(image: HTMLImageElement, photo: readonly string[], texts: Texts): HTMLElement {
  const layers = element('div', { class: 'layers' }, image)
  const pane = element('div', { class: 'pane', dir: 'ltr', role: 'group', 'aria-label': texts.zoom }, layers)
  const look = element('div', { class: 'look' }, pane)
  const isZoomed = () => pane.classList.contains('zoomed')
  const zoom = button('', () => setZoom(isZoomed() ? null : CHEST), { looks: 'tool', symbol: icon('zoom') })
  zoom.setAttribute('aria-label', texts.zoom)
  const setZoom = (centre: typeof CHEST | null) => {
    pane.classList.toggle('zoomed', centre !== null)
    zoom.setAttribute('aria-pressed', String(centre !== null))
    // Arrow keys move what has the focus.
    if (centre === null) return pane.removeAttribute('tabindex')
    pane.tabIndex = 0
    const { scrollWidth, scrollHeight, clientWidth, clientHeight } = pane
    pane.scrollTo(centre.x * scrollWidth - clientWidth / 2, centre.y * scrollHeight - clientHeight / 2)
  }
  setZoom(null)
  const show = () => {
    image.addEventListener('click', ({ offsetX, offsetY }) =>
      setZoom(isZoomed() ? null : { x: offsetX / image.clientWidth, y: offsetY / image.clientHeight }),
    )
    look.append(zoom)
    void loadImage(photo).then((before) => before && look.append(compare({ image, before, layers, texts })))
  }
  image.addEventListener('load', show, { once: true })
  return look
}

/** The first image that loads. */
async function loadImage(urls: readonly string[]): Promise<HTMLImageElement | null> {
  for (const src of urls) {
    const image = element('img', { src })
    if (
      await image.decode().then(
        () => true,
        () => false,
      )
    )
      return image
  }
  return null
}

interface Comparison {
  readonly image: HTMLImageElement
  readonly before: HTMLImageElement
  readonly layers: HTMLElement
  readonly texts: Texts
}

/** Draws the photo over the result, and returns the slider. On a canvas, as style sheets of pages may forbid styles of elements. */
function compare({ image, before, layers, texts }: Comparison): HTMLInputElement {
  const { naturalWidth: width, naturalHeight: height } = image
  const canvas = element('canvas', { width, height, 'aria-hidden': 'true' })
  const slider = element('input', {
    type: 'range',
    part: 'compare',
    dir: 'ltr',
    value: 0,
    'aria-label': texts.compare,
    input: () => {
      const share = slider.valueAsNumber / 100
      const context = canvas.getContext('2d')
      context?.clearRect(0, 0, width, height)
      // An empty source is an error in some browsers.
      if (share === 0) return
      const [from, to] = [before.naturalWidth * share, width * share]
      context?.drawImage(before, 0, 0, from, before.naturalHeight, 0, 0, to, height)
    },
  })
  layers.append(canvas)
  return slider
}
