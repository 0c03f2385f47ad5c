import { type Html, html } from '../../http/answers/html.ts'
import { copied, facts } from '../html/elements.ts'

/** Snippets and links for what has just been created. */
export interface NextSteps {
  forKey(key: string): Html
  forShop(): Html
}

/** Links lead only to extensions that are on. */
export function createNextSteps({
  publicUrl = '',
  hasFeature = () => true,
}: {
  readonly publicUrl?: string
  readonly hasFeature?: (name: string) => boolean
}): NextSteps {
  const links = (entries: readonly (readonly [feature: string, path: string, text: string])[]) =>
    html`<p>${entries
      .filter(([feature]) => hasFeature(feature))
      .map(([, path, text]) => html`<a class="button quiet" href="${publicUrl}${path}">${text}</a> `)}</p>`
  return {
    forKey: (key) =>
      html`${facts([['First call', copied(`curl ${publicUrl}/tryon/v1/account -H "x-api-key: ${key}"`)]])}${links([
        ['guide', '/guide/start/api', 'Quickstart'],
        ['playground', '/playground', 'Playground'],
      ])}`,
    forShop: () =>
      html`${facts([['On the page of a product', copied(ELEMENT)]])}${links([
        ['guide', '/guide/start/shop', 'Quickstart'],
        ['guide', '/guide/signing', 'Sign requests'],
      ])}`,
  }
}

const ELEMENT =
  '<script src="/apps/drape/widget.js" async></script> <drape-try-on product="ID" product-title="TITLE"></drape-try-on>'
