import { html } from '../../http/answers/html.ts'
import { presentDocument } from '../../http/answers/public-page.ts'
import type { ErrorCode } from '../../shared/contract/errors.ts'
import type { SharedTryOn } from './share.schema.ts'
import ar from './share-texts/ar.json' with { type: 'json' }
import de from './share-texts/de.json' with { type: 'json' }
import en from './share-texts/en.json' with { type: 'json' }
import es from './share-texts/es.json' with { type: 'json' }
import fr from './share-texts/fr.json' with { type: 'json' }
import it from './share-texts/it.json' with { type: 'json' }
import pl from './share-texts/pl.json' with { type: 'json' }
import pt from './share-texts/pt.json' with { type: 'json' }

/** The languages of the widget. */
export const SHARE_TEXTS: Readonly<Record<string, typeof en>> = { en, ar, de, es, fr, it, pl, pt }

interface PageOptions {
  readonly serviceName: string
  readonly language: string
}

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

function fill(text: string, values: Readonly<Record<string, string>>): string {
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => values[name] ?? whole)
}

function presentDay(iso: string, language: string): string {
  return new Intl.DateTimeFormat(language, { dateStyle: 'long', timeZone: 'UTC' }).format(new Date(iso))
}
