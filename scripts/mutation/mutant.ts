/** One change of a source text: replaces the range from `start` to `end` by `replacement`. */
export interface Mutant {
  readonly start: number
  readonly end: number
  readonly replacement: string
}

export function applyMutant(text: string, { start, end, replacement }: Mutant): string {
  return text.slice(0, start) + replacement + text.slice(end)
}

/** The line and the change, for the report. */
export function presentMutant(text: string, { start, end, replacement }: Mutant): string {
  const flat = (part: string) => part.replace(/\s+/g, ' ').trim().slice(0, 80)
  return `${text.slice(0, start).split('\n').length}: ${flat(text.slice(start, end))} → ${flat(replacement) || 'removed'}`
}
