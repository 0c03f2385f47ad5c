import { type Html, html } from '../../http/answers/html.ts'
import { fill, readPageTexts } from '../../http/answers/page-texts.ts'
import { presentDocument } from '../../http/answers/public-page.ts'
import type { EngineKind } from '../../shared/engines/engine-catalogue.ts'
import type { SafetyLevel } from '../../shared/generations/generation.ts'
import en from './privacy-texts/en.json' with { type: 'json' }

/** The languages of the widget. `{…}` stands for settings of the shop and the installation. */
export const PRIVACY_TEXTS = readPageTexts(en, new URL('privacy-texts/', import.meta.url))
type PrivacyTexts = typeof en

/** Content of the page, from the settings of the shop, its account and the installation. */
export interface ShopPrivacyFacts {
  readonly shop: { readonly name: string; readonly domain: string; readonly contact: string | null }
  readonly processor: string
  readonly engines: readonly { readonly name: string; readonly kind: EngineKind | null }[]
  /** Level of the try-ons of shoppers. */
  readonly safetyLevel: SafetyLevel
  readonly days: Readonly<Record<'photos' | 'results' | 'emails' | 'events', number>>
  /** Host of the analytics provider; null if none is configured. */
  readonly analytics: string | null
  /** Null if the shop does not require consent. */
  readonly policy: { readonly version: string; readonly language: string; readonly text: string } | null
}

/** The privacy page in the given language. */
export function presentPrivacy(facts: ShopPrivacyFacts, language: string): string {
  const { shop, processor, policy } = facts
  const texts = PRIVACY_TEXTS[language]
  const body = html`
    <main class="text">
      <section>
        <h1>${texts.title}</h1>
        <p dir="auto">${fill(texts.lead, { shop: shop.name })}</p>
        ${part(texts.responsible, [shop.name === shop.domain ? shop.domain : `${shop.name}, ${shop.domain}`])}
        ${shop.contact === null ? '' : html`<p>${texts.contact} ${linkOf(shop.contact)}</p>`}
        ${part(texts.processor, [fill(texts.processorText, { processor })])}
        ${part(texts.engine, engineLines(facts, texts))}
        ${facts.safetyLevel === 'off' ? '' : part(texts.checks, checkLines(facts, texts))}
        ${part(texts.retention, retentionLines(facts, texts, language))}
        ${
          policy === null
            ? html`<p>${texts.erase}</p>`
            : html`<h2>${texts.policy}</h2>
        <blockquote lang="${policy.language}" dir="auto">${policy.text}</blockquote>
        <p>${texts.withdraw}</p>
        <small>${fill(texts.version, { version: policy.version })}</small>`
        }
        <p><a href="/removal?lang=${language}">${texts.removal}</a></p>
      </section>
    </main>`
  return presentDocument({ title: `${texts.title} – ${shop.name}`, head: html``, body, language })
}

function part(heading: string, lines: readonly string[]): Html {
  return html`<h2>${heading}</h2>${lines.map(
    (line) => html`
        <p dir="auto">${line}</p>`,
  )}`
}

function engineLines({ engines }: ShopPrivacyFacts, { kinds, engineText }: PrivacyTexts): string[] {
  const described = new Set(engines.map(({ kind }) => kinds[kind ?? 'unknown']))
  return [...described, fill(engineText, { engines: engines.map(({ name }) => name).join(', ') })]
}

function checkLines({ safetyLevel }: ShopPrivacyFacts, { checksText, strictText }: PrivacyTexts): string[] {
  return safetyLevel === 'strict' ? [checksText, strictText] : [checksText]
}

function retentionLines(
  { days, analytics, policy, safetyLevel }: ShopPrivacyFacts,
  texts: PrivacyTexts,
  language: string,
): string[] {
  const { format } = new Intl.NumberFormat(language, { style: 'unit', unit: 'day', unitDisplay: 'long' })
  const after = (text: string, count: number) => fill(text, { days: format(count) })
  return [
    after(texts.photos, days.photos),
    after(texts.results, days.results),
    texts.hashes,
    ...(safetyLevel === 'off' ? [] : [texts.refusals]),
    texts.hold,
    texts.addresses,
    after(texts.emails, days.emails),
    [
      after(texts.events, days.events),
      ...(analytics === null ? [] : [fill(texts.analytics, { host: analytics })]),
    ].join(' '),
    ...(policy === null ? [] : [texts.consents]),
  ]
}

/** An e-mail address or a web address as a link; anything else as it is. */
function linkOf(contact: string): Html {
  if (/^[^\s@:/?&#]+@[^\s@:/?&#]+$/.test(contact)) return html`<a href="mailto:${contact}">${contact}</a>`
  if (/^https:\/\/\S+$/.test(contact)) return html`<a href="${contact}" rel="nofollow noopener">${contact}</a>`
  return html`<span dir="auto">${contact}</span>`
}

export function presentUnknownShop(language: string): string {
  const { title } = PRIVACY_TEXTS[language]
  const body = html`
    <main>
      <section>
        <h1>${title}</h1>
        <p lang="en">The page does not exist. Part of the link may be missing.</p>
      </section>
    </main>`
  return presentDocument({ title, head: html``, body, language })
}
