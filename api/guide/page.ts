import { html } from '../http/answers/html.ts'
import type { Source } from './sources.ts'

export interface NavigationPage extends Pick<Source, 'path' | 'section'> {
  readonly title: string
}

export interface GuidePage {
  readonly serviceName: string
  readonly page: NavigationPage & { readonly summary: string }
  readonly markup: string
  /** Path of the page as Markdown. */
  readonly markdownPath: string
  readonly pages: readonly NavigationPage[]
}

/** A page of the site. The search appears only with JavaScript. */
export function presentGuidePage({ serviceName, page, markup, markdownPath, pages }: GuidePage): string {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="description" content="${page.summary}">
<title>${page.title} – ${serviceName}</title>
<link rel="icon" href="data:,">
<link rel="alternate" type="text/markdown" href="${markdownPath}">
<link rel="stylesheet" href="/guide/assets/guide.css">
<script src="/guide/assets/guide.js" type="module"></script>
</head>
<body>
<a class="skip" href="#content">Skip to content</a>
<header>
<p class="brand"><a href="/guide">${serviceName} guide</a></p>
<form role="search" id="search" hidden><label for="query">Search</label>
<input id="query" type="search" autocomplete="off" spellcheck="false" aria-controls="found"></form>
<nav aria-label="Service"><a class="to-pages" href="#pages">All pages</a><a href="/docs">API reference</a><a href="/playground">Playground</a></nav>
</header>
<div class="columns">
<nav id="pages" aria-label="Pages">
${[...Map.groupBy(pages, ({ section }) => section)].map(
  ([
    section,
    members,
  ]) => html`<details${{ markup: section === page.section ? ' open' : '' }}><summary>${section}</summary><ul>
${members.map(({ path, title }) => html`<li><a href="${path}"${{ markup: path === page.path ? ' aria-current="page"' : '' }}>${title}</a></li>`)}
</ul></details>
`,
)}</nav>
<main id="content" tabindex="-1">
<section id="found" aria-label="Search results" aria-live="polite" hidden></section>
<article${{ markup: page.section === 'API reference' ? ' class="reference"' : '' }}>
${{ markup }}
</article>
<p class="source"><a href="${markdownPath}">This page as Markdown</a></p>
</main>
</div>
</body>
</html>
`.markup
}
