const MAX_PRODUCT_LENGTH = 50
const EXTENSION = /\.(jpe?g|png|webp)$/i

/**
 * File name of a download: `<service> - Your Try On.jpg`, or with a product name `<service> - Your Try On -
 * <product>.jpg`. A text with an image extension is a whole name; any other text is a product name. The extension
 * always matches the bytes.
 */
export function downloadName(
  asked: string,
  { serviceName, extension }: { serviceName: string; extension: string },
): string {
  const fixed = `${serviceName} - Your Try On`
  const isWhole = EXTENSION.test(asked.trim())
  const text = plain(asked.trim().replace(EXTENSION, ''))
  const product = text.startsWith(`${plain(fixed)} - `) ? text.slice(plain(fixed).length + 3) : text
  if (product === '' || product === plain(fixed)) return `${fixed}.${extension}`
  if (isWhole && product === text) return `${text}.${extension}`
  return `${fixed} - ${cut(product)}.${extension}`
}

/** Only letters, digits, hyphens and single spaces. */
function plain(text: string): string {
  const letters = text
    .normalize('NFC')
    .replace(/\s/gu, ' ')
    .replace(/[^\p{L}\p{M}\p{N} -]/gu, '')
  return letters.replace(/ +/g, ' ').trim()
}

function cut(text: string): string {
  return [...text].slice(0, MAX_PRODUCT_LENGTH).join('').trim()
}
