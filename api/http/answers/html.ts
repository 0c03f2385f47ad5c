/** Markup that needs no escaping. */
export interface Html {
  readonly markup: string
}

/** Builds markup and escapes interpolated values, except values that `html` itself created. */
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
