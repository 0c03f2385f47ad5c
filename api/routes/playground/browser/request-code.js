const IMAGE_ID = '(the id of the photo)'

/**
 * A call as lines for a shell. `photo` and `product` are null or `{ name, sampleUrl }`, `options` what differs from the defaults.
 */
export function writeCurl({ origin, photo, product, title, category, options }) {
  const { crop = true, ...output } = options
  const samples = [photo, product].filter((picture) => picture?.sampleUrl)
  const fetched = samples.map(({ sampleUrl, name }) => `curl -sS ${quote(origin + sampleUrl)} -o ${quote(name)}`)
  const sent = crop ? output : without(output, 'keepForDays')
  const data = {
    person: { image: { source: crop ? { fileKey: 'photo' } : { id: IMAGE_ID } } },
    products: [describeProduct({ title, category, source: { fileKey: 'product' } })],
    ...(Object.keys(sent).length > 0 && { output: sent }),
  }
  // The shell fills it in, between the quotes of the others. It is the first text in the data.
  const json = crop ? quote(spread(data)) : quote(spread(data)).replace(IMAGE_ID, `'"$IMAGE_ID"'`)
  return [
    'DRAPE_API_KEY=sk_YOUR_KEY',
    ...(fetched.length === 0 ? [] : ['', '# the sample pictures', ...fetched]),
    ...(crop ? [] : ['', '# the photo, with its framing as it is', ...writeUpload({ origin, photo, output })]),
    '',
    '# waits for the picture, up to a minute',
    [
      `curl -sS ${quote(`${origin}/tryon/v1/try-on/sync`)} -H "x-api-key: $DRAPE_API_KEY"`,
      `  --form-string data=${json}`,
      ...(crop ? [`  -F ${quote(fileField('photo', nameOf(photo, 'photo.jpg')))}`] : []),
      `  -F ${quote(fileField('product', nameOf(product, 'product.jpg')))}`,
    ].join(' \\\n'),
  ].join('\n')
}

function writeUpload({ origin, photo, output }) {
  const kept = output.keepForDays === undefined ? '' : ` -F keepForDays=${output.keepForDays}`
  return [
    `IMAGE_ID=$(curl -sS ${quote(`${origin}/tryon/v1/images/upload`)} -H "x-api-key: $DRAPE_API_KEY" \\`,
    `  -F ${quote(fileField('file', nameOf(photo, 'photo.jpg')))} -F crop=false${kept} | sed 's/.*"imageId":"\\([^"]*\\)".*/\\1/')`,
  ]
}

/** The same call as a program on the client. */
export function writeProgram({ origin, photo, product, title, category, options }) {
  const { crop = true, ...output } = options
  const read = (picture, name) => `await readPicture(${text(nameOf(picture, name))})`
  const image = read(product, 'product.jpg')
  const described = describeProduct({ title, category, source: null })
  const classified = category === '' ? image : `{ source: ${image}, classifications: { category: ${text(category)} } }`
  const fields = [...(described.title ? [`title: ${text(described.title)}`] : []), `images: [${classified}]`]
  const { keepForDays } = output
  const settings = Object.entries({ crop, ...(keepForDays && { keepForDays }) }).map(entry)
  const sent = crop ? output : without(output, 'keepForDays')
  const photoCode = read(photo, 'photo.jpg')
  return [
    `import { createDrapeClient, readPicture } from '@drape/client/node'`,
    '',
    `const drape = createDrapeClient({ url: ${text(origin)}, apiKey: process.env.DRAPE_API_KEY })`,
    ...(crop ? [] : [`const { imageId } = await drape.images.upload(${photoCode}, { ${settings.join(', ')} })`]),
    'const { generationId, resultImageUrl } = await drape',
    '  .tryOn({',
    `    person: ${crop ? photoCode : '{ id: imageId }'},`,
    `    product: { ${fields.join(', ')} },`,
    ...(Object.keys(sent).length === 0 ? [] : [`    output: { ${Object.entries(sent).map(entry).join(', ')} },`]),
    '  })',
    `  .wait({ onProgress: ({ status, progress }) => console.log(status, progress ?? '') })`,
    'console.log(generationId, resultImageUrl)',
  ].join('\n')
}

/** A product as a call describes it. */
export function describeProduct({ title, category, source }) {
  return {
    ...(title !== '' && { title }),
    images: [{ source, ...(category !== '' && { classifications: { category } }) }],
  }
}

function nameOf(picture, placeholder) {
  return picture?.name ?? placeholder
}

/** One word for a shell, whatever is in it. */
function quote(word) {
  return `'${quoteInside(word)}'`
}

function quoteInside(word) {
  return word.replaceAll("'", `'\\''`)
}

/** curl reads quotes around a file's name, and nothing else inside of them but these two escapes. */
function fileField(field, name) {
  return `${field}=@"${name.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`
}

/** A line for each part. */
function spread(data) {
  const lines = Object.entries(data).map(([name, value]) => `    "${name}": ${spaced(value)}`)
  return `{\n${lines.join(',\n')}\n  }`
}

function spaced(value) {
  return JSON.stringify(value, null, 1).replaceAll(/\n\s*/g, ' ')
}

/** A text in a program. */
function text(value) {
  return `'${JSON.stringify(value).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`
}

function entry([name, value]) {
  return `${name}: ${typeof value === 'string' ? text(value) : value}`
}

function without(object, name) {
  const { [name]: _, ...rest } = object
  return rest
}
