import { createHash } from 'node:crypto'
import { html } from '../../answers/html.ts'

const STYLE = `
:root { color-scheme: light dark; --paper: #f6f5f3; --card: #fff; --ink: #1d1b19; --soft: #635d57; --line: #dcd7d1; --strong: #1f4f8a }
@media (prefers-color-scheme: dark) {
  :root { --paper: #141312; --card: #1e1c1b; --ink: #f2efeb; --soft: #aba49d; --line: #383431; --strong: #8fbdf0 }
}
* { box-sizing: border-box }
body {
  margin: 0; min-height: 100svh; display: grid; place-items: center; padding: 16px;
  background: var(--paper); color: var(--ink); font: 16px/1.5 system-ui, sans-serif; overflow-wrap: anywhere;
}
main { width: 100%; max-width: 560px; padding: 24px; background: var(--card); border: 1px solid var(--line); border-radius: 20px }
h1 { margin: 0; font-size: 1.5rem; line-height: 1.25 }
p { margin: 8px 0 0; color: var(--soft) }
ul { margin: 16px 0 0; padding: 0; list-style: none }
li { padding: 12px 0; border-top: 1px solid var(--line); color: var(--soft) }
a { display: block; color: var(--strong); font-weight: 600; text-underline-offset: 2px }
a:focus-visible { outline: 3px solid var(--strong); outline-offset: 2px; border-radius: 6px }
`

/** Hash that allows the style in a Content-Security-Policy. */
export const STYLE_HASH = `sha256-${createHash('sha256').update(STYLE).digest('base64')}`

/** The page at the root URL of the API. */
export function presentStartPage(serviceName: string): string {
  // The style must stay constant: the policy allows it by its hash.
  return html`<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>${serviceName}</title>
    <meta name="robots" content="noindex">
    <link rel="icon" href="data:,">
    <style>${{ markup: STYLE }}</style>
  </head>
  <body>
    <main>
      <h1>${serviceName}</h1>
      <p>Virtual try-on: an image of a person wearing a product, from a photo of the person and an image of the product.</p>
      <ul>
        <li><a href="/playground">Playground</a>Try a product on a photo, with an API key.</li>
        <li><a href="/docs">API reference</a>Every operation, with examples.</li>
        <li><a href="/guide">Guide</a>Quickstarts, concepts and operation.</li>
        <li><a href="/tryon/v1/openapi.json">OpenAPI document</a>For generators of clients.</li>
        <li><a href="/healthz">Health</a>Whether the API answers.</li>
      </ul>
    </main>
  </body>
</html>
`.markup
}
