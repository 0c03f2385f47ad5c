const MAX_PRODUCT_LENGTH = 50
const EXTENSION = /\.(jpe?g|png|webp)$/i

/**
 * What a download is called: `<service> - Your Try On.jpg`, and with the name of a product `<service> - Your Try On -
 * <product>.jpg`. A text with a picture's extension is a whole name; any other is a product's. The extension is that of the
 * bytes, whatever was asked for.
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
