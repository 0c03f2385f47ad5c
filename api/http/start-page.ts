import { html } from './answers/html.ts'
import { presentDocument } from './answers/public-page.ts'

/** A link of the start page. */
export interface StartLink {
  /** Its name in JSON. */
  readonly name: string
  readonly path: string
  readonly title: string
  readonly text: string
}

/** The page at the root URL of the API. */
export function presentStartPage(serviceName: string, links: readonly StartLink[]): string {
  return presentDocument({
    title: serviceName,
    head: html``,
    body: html`
    <main>
      <section>
        <h1>${serviceName}</h1>
        <p>Virtual try-on: an image of a person wearing a product, from a photo of the person and an image of the product.</p>
        <ul>
          ${links.map(({ path, title, text }) => html`<li><a href="${path}">${title}</a>${text}</li>`)}
        </ul>
      </section>
    </main>`,
  })
}
