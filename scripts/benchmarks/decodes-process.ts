import { readFileSync } from 'node:fs'
import { createRequire, registerHooks } from 'node:module'

// Counts the full decodes of encoded images by wrapping the library: raw pixels need none, and neither does reading the metadata of a file.
// Prints one number per format.

const [, , path, ...formats] = process.argv
const counted = { decodes: 0 }
Object.assign(globalThis, { countDecode: () => counted.decodes++ })

const wrapper = `
  import { createRequire } from 'node:module'
  const sharp = createRequire(${JSON.stringify(import.meta.url)})('sharp')
  export default new Proxy(sharp, {
    apply: (target, self, [input, options]) => {
      const image = Reflect.apply(target, self, [input, options])
      if (options?.raw) return image
      const { toBuffer } = image
      image.toBuffer = (...given) => {
        globalThis.countDecode()
        return Reflect.apply(toBuffer, image, given)
      }
      return image
    },
  })`
registerHooks({
  resolve: (specifier, context, next) =>
    specifier === 'sharp' && context.parentURL?.endsWith('/image.ts')
      ? { url: 'counting:sharp', format: 'module', shortCircuit: true }
      : next(specifier, context),
  load: (url, context, next) =>
    url === 'counting:sharp' ? { format: 'module', source: wrapper, shortCircuit: true } : next(url, context),
})

const sharp = createRequire(import.meta.url)('sharp') as typeof import('sharp').default
const files = await Promise.all(
  formats.map((format) =>
    sharp(readFileSync(path))
      .toFormat(format as 'png')
      .toBuffer(),
  ),
)
const { normaliseImage } = await import('../../api/shared/image/image.ts')
const counts: number[] = []
for (const file of files) {
  counted.decodes = 0
  await normaliseImage(file)
  counts.push(counted.decodes)
}
console.log(JSON.stringify(counts))
