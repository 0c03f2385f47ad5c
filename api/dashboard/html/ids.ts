import { randomUUID } from 'node:crypto'
import { type Html, html } from '../../http/answers/html.ts'
import type { Column } from './list.view.ts'

/** Characters of an ID that are shown: the last ones, as IDs that were created at the same time begin the same way. */
const SHOWN = 6
const ID = /^([a-z]+_)[\w-]{12,}$/

/** The prefix and the end of an ID, with the whole ID as its title. Other texts are shown whole. */
export function shortId(text: string): Html {
  const [, prefix] = ID.exec(text) ?? []
  return prefix === undefined
    ? html`<code>${text}</code>`
    : html`<code title="${text}">${prefix}…${text.slice(-SHOWN)}</code>`
}

/** A whole ID, cut off at the end of its place, with a button that copies it. */
export function copiedId(id: string): Html {
  const place = `id-${randomUUID().slice(0, 8)}`
  return html`<span class="id"><code id="${place}" title="${id}">${id}</code><button type="button" data-copy="${place}" aria-label="Copy the ID" hidden>Copy</button><span role="status"></span></span>`
}

/** Link to a generation by the end of its ID. */
export function generationLink(id: string): Html {
  return html`<a href="/generations/${id}">${shortId(id)}</a>`
}

/** Link to an account by its name, with its ID as the second line. */
export function accountLink({ id, name }: { id: string; name: string | undefined }): Html {
  return html`<a href="/accounts/${id}">${name ?? 'Account'}</a><br><span class="beneath">${shortId(id)}</span>`
}

/** Of a list of all accounts. */
export const ACCOUNT_COLUMN: Column<{ readonly accountId: string; readonly accountName: string }> = {
  head: 'Account',
  of: ['accountName', 'accountId'],
  cell: ({ accountId: id, accountName: name }) => accountLink({ id, name }),
}
