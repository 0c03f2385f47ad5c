import { html } from '../answers/html.ts'
import { type Content, table } from './elements.ts'
import { showPage } from './layout.ts'
import type { DashboardContext } from './state.ts'

export interface Conflict {
  /** What it is called, and its page. */
  readonly what: string
  readonly path: string
  readonly sent: Readonly<Record<string, unknown>>
  readonly now: Readonly<Record<string, unknown>>
  /** What the settings are called; the others by their own name. */
  readonly names: Readonly<Record<string, string>>
}

/** Shows what an operator wanted beside what another one has saved meanwhile. */
export function showConflict(ctx: DashboardContext, { what, path, sent, now, names }: Conflict): void {
  const rows = Object.entries(sent).map(([name, value]): Content[] => {
    const [wanted, is] = [said(value), said(now[name])]
    return [names[name] ?? name, wanted, is === wanted ? is : html`<strong>${is}</strong>`]
  })
  ctx.status = 409
  showPage(ctx, {
    title: 'Another operator changed this',
    body: html`<p>The ${what} was changed after you opened its page. Nothing of what you sent was saved.</p>
${table({ caption: 'Your changes and the current values', head: ['Setting', 'Your value', 'Current value'], rows, empty: '' })}
<p><a class="button" href="${path}">Open the current ${what}</a></p>`,
  })
}

function said(value: unknown): string {
  return value === undefined || value === null ? 'none' : [value].flat().join(', ')
}
