import { html } from './answers/html.ts'
import { presentDocument } from './answers/public-page.ts'

/** The page at the root URL of the API. */
export function presentStartPage(serviceName: string): string {
  return presentDocument({
    title: serviceName,
    head: html``,
    body: html`
    <main>
      <section>
        <h1>${serviceName}</h1>
        <p>Virtual try-on: an image of a person wearing a product, from a photo of the person and an image of the product.</p>
        <ul>
          <li><a href="/playground">Playground</a>Try a product on a photo. Needs an API key.</li>
          <li><a href="/analytics">Analytics</a>What visitors of your shops do. Needs an API key.</li>
          <li><a href="/docs">API reference</a>Every operation, with examples.</li>
          <li><a href="/guide">Guide</a>Quickstarts, concepts and operation.</li>
          <li><a href="/tryon/v1/openapi.json">OpenAPI document</a>For client generators.</li>
          <li><a href="/healthz">Health</a>Status of the API.</li>
        </ul>
      </section>
    </main>`,
  })
}
