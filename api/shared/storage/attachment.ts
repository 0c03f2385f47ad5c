const MAX_LENGTH = 120

/**
 * `Content-Disposition` header that saves a download under a name (RFC 6266): an ASCII form for old clients and the
 * UTF-8 name. Removes folders, control characters and bidirectional text marks.
 */
export function attachment(filename: string): string {
  const name = safeName(filename)
  const ascii = name.replace(/[^\x20-\x7e]|["\\%]/gu, '_')
  const encoded = encodeURIComponent(name).replace(/['()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`)
  return `attachment; filename="${ascii}"; filename*=UTF-8''${encoded}`
}

function safeName(filename: string): string {
  const last = filename.toWellFormed().split(/[\\/]/).at(-1) ?? ''
  const visible = last.replace(/[\p{Cc}\p{Cf}]/gu, '').replace(/^[\s.]+/u, '')
  const whole = visible.trimEnd() || 'image'
  const dot = whole.lastIndexOf('.')
  const extension = dot > 0 && whole.length - dot <= 6 ? whole.slice(dot) : ''
  const stem = whole.slice(0, whole.length - extension.length)
  return [...stem].slice(0, MAX_LENGTH - extension.length).join('') + extension
}
