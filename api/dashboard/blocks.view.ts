import { type Html, html } from '../http/answers/html.ts'
import type { Block } from '../trust/appeals/safety-blocks.store.ts'
import { type Content, code, section, table, time, when } from './elements.ts'
import { actForm } from './form-elements.ts'
import { shortId } from './ids.ts'
import type { Forms } from './issued-forms.ts'

const KINDS = { person: 'photo', product: 'product image', pair: 'photo together with a product image' } as const

export function presentBlocks(
  blocks: readonly Block[],
  { limit, forms }: { readonly limit: number; readonly forms: Forms },
): Html {
  const removal = actForm({
    action: '/blocks/remove',
    forms,
    submit: 'Remove the block',
    danger: true,
    body: ({ field }) => html`${field({
      name: 'block',
      label: 'Block',
      required: true,
      suggestions: blocks.map(({ id }) => id),
      hint: 'ID of a block in the list.',
    })}
${field({ name: 'reason', label: 'Reason', required: true, minLength: 3, hint: 'The audit log records it.' })}`,
  })
  return html`<p>Operators blocked these images when they decided on <a href="/reviews">reviews</a>. Every account with a safety level refuses them.</p>
${table({
  caption: 'Blocked images, newest first',
  head: ['Block', 'Image', 'Hash begins with', 'Account of the appeal', 'Blocked (UTC)', 'Until (UTC)'],
  rows: blocks.map((block): Content[] => [
    code(block.id),
    KINDS[block.kind],
    code(BigInt(`0b${block.hash}`).toString(16).padStart(8, '0')),
    html`<a href="/accounts/${block.accountId}">${shortId(block.accountId)}</a>`,
    time(block.createdAt),
    block.expiresAt === null ? 'no end' : time(block.expiresAt),
  ]),
  empty: html`No image is blocked. To block one, decide “block” on an appeal in <a href="/reviews">Reviews</a>.`,
})}${when(blocks.length === limit, html`<p class="hint">The newest ${String(limit)} blocks.</p>`)}
${when(blocks.length > 0, section('Remove a block', removal))}`
}
