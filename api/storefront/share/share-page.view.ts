import { html } from '../../http/answers/html.ts'
import { presentDocument } from '../../http/answers/public-page.ts'
import type { ErrorCode } from '../../shared/contract/errors.ts'
import type { SharedTryOn } from './share.schema.ts'

/** The page of a shared image, with metadata for previews of messengers and social networks. */
export function presentSharePage(
  { shareUrl, expiresAt, generation, product, merchant }: SharedTryOn,
  { imageType, serviceName }: { imageType: string; serviceName: string },
): string {
  const title = product.title ?? 'A virtual try-on'
  const alt = `${title}, tried on`
  const description = `A virtual try-on at ${merchant.name}.`
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
        <a class="visit" href="${merchant.url}" rel="nofollow noopener">Visit the shop <span>${merchant.domain}</span></a>
        <small>A virtual try-on: software made this image from a photo and an image of the product. The real fit may differ. The link works until ${presentDay(expiresAt)}. Made with ${serviceName}.</small>
      </section>
    </main>`
  return presentDocument({ title: `${title} – ${merchant.name}`, head, body })
}

const REFUSALS: Readonly<Partial<Record<ErrorCode, { heading: string; text: string }>>> = {
  SHARE_LINK_NOT_FOUND: {
    heading: 'Image not found',
    text: 'Part of the link may be missing. Open the original link again.',
  },
  SHARE_LINK_GONE: {
    heading: 'This image is no longer available',
    text: 'Shared images expire after a few days, and the person in the image can remove them at any time.',
  },
  RATE_LIMIT_EXCEEDED: {
    heading: 'One moment, please',
    text: 'Too many images were opened from your network. Try again in 1 minute.',
  },
}

/** The page that explains why there is no image; null when the reason does not concern visitors. */
export function presentRefusal(code: ErrorCode, serviceName: string): string | null {
  const refusal = REFUSALS[code]
  if (!refusal) return null
  const body = html`
    <main>
      <section>
        <h1>${refusal.heading}</h1>
        <p>${refusal.text}</p>
        <small>${serviceName}</small>
      </section>
    </main>`
  return presentDocument({ title: refusal.heading, head: html``, body })
}

function presentDay(iso: string): string {
  return new Intl.DateTimeFormat('en', { dateStyle: 'long', timeZone: 'UTC' }).format(new Date(iso))
}
