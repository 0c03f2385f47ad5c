import { escapeHtml } from '../../answers/html.ts'

/** The page that loads the viewer; `assets` is the address of the folder of its files. */
export function presentPage({ serviceName, assets }: { serviceName: string; assets: string }): string {
  const title = escapeHtml(`${serviceName} server API`)
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>${title}</title>
    <link rel="icon" href="data:,">
    <link rel="stylesheet" href="${assets}/swagger-ui.css">
    <link rel="stylesheet" href="${assets}/viewer.css">
    <script src="${assets}/swagger-ui-bundle.js" defer></script>
    <script src="${assets}/viewer.js" type="module"></script>
  </head>
  <body>
    <main id="viewer"></main>
    <noscript>The document itself: <a href="/tryon/v1/openapi.json">openapi.json</a></noscript>
  </body>
</html>
`
}
