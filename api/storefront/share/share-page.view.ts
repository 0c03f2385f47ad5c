import { html } from '../../http/answers/html.ts'
import { fill, readPageTexts } from '../../http/answers/page-texts.ts'
import { type PageOptions, presentDocument } from '../../http/answers/public-page.ts'
import type { ErrorCode } from '../../shared/contract/errors.ts'
import type { SharedTryOn } from './share.schema.ts'
import en from './share-texts/en.json' with { type: 'json' }

/** The languages of the widget. */
export const SHARE_TEXTS = readPageTexts(en, new URL('share-texts/', import.meta.url))

/** The page of a shared image, with metadata for previews of messengers and social networks. */
export function presentSharePage(
  { shareUrl, expiresAt, generation, product, merchant }: SharedTryOn,
  { imageType, serviceName, language }: PageOptions & { readonly imageType: string },
): string {
  const texts = SHARE_TEXTS[language]
  const title = product.title ?? texts.title
  const alt = fill(texts.alt, { title })
  const description = fill(texts.description, { shop: merchant.name })
  const head = html`
    <meta name="description" content="${description}">
    <meta property="og:type" content="website">
    <meta property="og:site_name" content="${merchant.name}">
    <meta property="og:title" content="${title}">
    <meta property="og:description" content="${description}">
    <meta property="og:url" content="${shareUrl}">
    <meta property="og:image" content="${generation.resultImageUrl}">
    <meta property="og:image:type" content="${imageType}">
    <meta property="og:image:alt" content="${alt}">
    <meta name="twitter:card" content="summary_large_image">
    <meta name="twitter:title" content="${title}">
    <meta name="twitter:description" content="${description}">
    <meta name="twitter:image" content="${generation.resultImageUrl}">
    <meta name="twitter:image:alt" content="${alt}">`
  const body = html`
    <main class="look">
      <div class="image"><img src="${generation.resultImageUrl}" alt="${alt}"></div>
      <section>
        <h1 dir="auto">${title}</h1>
        <p dir="auto">${merchant.name}</p>
        <a class="visit" href="${merchant.url}" rel="nofollow noopener">${texts.visit} <span dir="ltr">${merchant.domain}</span></a>
        <small>${fill(texts.note, { date: presentDay(expiresAt, language), service: serviceName })}</small>
      </section>
    </main>`
  return presentDocument({ title: `${title} – ${merchant.name}`, head, body, language })
}

/** The page that explains a refusal; null when the reason does not concern visitors. */
export function presentRefusal(code: ErrorCode, { serviceName, language }: PageOptions): string | null {
  const { problems } = SHARE_TEXTS[language]
  if (!Object.hasOwn(problems, code)) return null
  const refusal = problems[code as keyof typeof problems]
  const body = html`
    <main>
      <section>
        <h1>${refusal.heading}</h1>
        <p>${refusal.text}</p>
        <small>${serviceName}</small>
      </section>
    </main>`
  return presentDocument({ title: refusal.heading, head: html``, body, language })
}

function presentDay(iso: string, language: string): string {
  return new Intl.DateTimeFormat(language, { dateStyle: 'long', timeZone: 'UTC' }).format(new Date(iso))
}
