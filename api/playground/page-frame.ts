import { type Html, html } from '../http/answers/html.ts'

export interface PageOptions {
  readonly serviceName: string
  /** URL of the folder of its files. */
  readonly assets: string
}

interface Frame extends PageOptions {
  /** Name of the page, and of its script. */
  readonly name: 'playground' | 'analytics'
  /** More elements of the head. */
  readonly head?: Html
  /** Links to other pages. */
  readonly links: Html
  /** What the header shows of the account. */
  readonly account: Html
  readonly content: Html
  /** Elements after the content. */
  readonly end?: Html
}

/** A page for holders of an API key. */
export function presentFrame({ serviceName, assets, name, head, links, account, content, end }: Frame): string {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>${serviceName} ${name}</title>
<link rel="icon" href="${assets}/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="${assets}/playground.css">
${head ?? html``}
<script src="${assets}/${name}.js" type="module"></script>
</head>
<body>
<a class="skip" href="#content">Skip to content</a>
<header>
<p class="brand"><img src="${assets}/icon.svg" alt="" width="28" height="28">${serviceName} <span>${name}</span></p>
<nav aria-label="More">${links} <a href="/guide">Guide</a> <a href="/docs">API reference</a></nav>
${account}
</header>
<main id="content" tabindex="-1">
${content}
</main>
${end ?? html``}
</body>
</html>
`.markup
}
