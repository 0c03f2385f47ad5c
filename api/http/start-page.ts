import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { html } from './answers/html.ts'
import { presentDocument } from './answers/public-page.ts'

/** A link of the start page. */
export interface StartLink {
  /** Its name in JSON. */
  readonly name: string
  readonly path: string
  readonly title: string
  /** Without a text, the link is below the others. */
  readonly text?: string
}

/** Moves the border between photo and result. */
const SCRIPT = `const range = document.querySelector('input')
range.addEventListener('input', () => range.parentElement.style.setProperty('--share', range.value + '%'))`

/** Hash that allows the script of the page in a Content-Security-Policy. */
export const START_SCRIPT_HASH = `sha256-${createHash('sha256').update(SCRIPT).digest('base64')}`

const [BEFORE, AFTER] = ['before', 'after'].map((name) => {
  const bytes = readFileSync(new URL(`start-images/${name}.webp`, import.meta.url))
  return `data:image/webp;base64,${bytes.toString('base64')}`
})

/** The page at the root URL of the API. */
export function presentStartPage(serviceName: string, links: readonly StartLink[]): string {
  const [ways, others] = [links.filter(({ text }) => text), links.filter(({ text }) => !text)]
  return presentDocument({
    title: serviceName,
    head: html``,
    body: html`
    <main>
      <div class="comparison">
        <img src="${BEFORE}" width="480" height="610" alt="Man in a navy polo shirt">
        <img src="${AFTER}" width="480" height="610" alt="The same man in a mustard T-shirt, made by this service">
        <input type="range" aria-label="Share of the photo before the try-on, in percent">
      </div>
      <section>
        <h1>${serviceName}</h1>
        <p>Virtual try-on: an image of a person wearing a product, from a photo of the person and an image of the product.</p>
        <ul>
          ${ways.map(({ path, title, text }) => html`<li><a href="${path}">${title}</a>${text ?? ''}</li>`)}
        </ul>
        <small>${others.map(({ path, title }) => html`<a href="${path}">${title}</a> `)}</small>
      </section>
    </main>
    <script>${{ markup: SCRIPT }}</script>`,
  })
}
