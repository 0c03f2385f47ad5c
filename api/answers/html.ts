/** Markup that may be sent as it is. */
export interface Html {
  readonly markup: string
}

/** Markup with texts in it: a text stays text whatever it says, only what `html` has made itself is taken as markup. */
export function html(parts: TemplateStringsArray, ...values: readonly (string | Html | readonly Html[])[]): Html {
  const inserted = values.map((value) => [value].flat().map(markupOf).join(''))
  return { markup: String.raw({ raw: parts }, ...inserted) }
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}

function markupOf(value: string | Html): string {
  return typeof value === 'string' ? escapeHtml(value) : value.markup
}
