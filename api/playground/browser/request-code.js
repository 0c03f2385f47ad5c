const IMAGE_ID = '(the id of the photo)'

/** Names of the files of products in a form. */
const FIELDS = ['product', 'second']

/**
 * The call as shell commands. `products`: one, or two of an outfit, each `{ image, title, category }`. `photo` and each
 * `image` are null or `{ name, sampleUrl }`; `options` are the non-default options.
 */
export function writeCurl({ origin, photo, products, options }) {
  const { crop = true, ...output } = options
  const samples = [photo, ...products.map(({ image }) => image)].filter((image) => image?.sampleUrl)
  const fetched = samples.map(({ sampleUrl, name }) => `curl -sS ${quote(origin + sampleUrl)} -o ${quote(name)}`)
  const sent = crop ? output : without(output, 'keepForDays')
  const data = {
    person: { image: { source: crop ? { fileKey: 'photo' } : { id: IMAGE_ID } } },
    products: products.map((product, i) => describeProduct({ ...product, source: { fileKey: FIELDS[i] } })),
    ...(Object.keys(sent).length > 0 && { output: sent }),
  }
  // A shell variable, outside of the single quotes. It is the first text in the data.
  const json = crop ? quote(spread(data)) : quote(spread(data)).replace(IMAGE_ID, `'"$IMAGE_ID"'`)
  return [
    'DRAPE_API_KEY=sk_YOUR_KEY',
    ...(fetched.length === 0 ? [] : ['', '# the sample images', ...fetched]),
    ...(crop ? [] : ['', '# the photo, without cropping', ...writeUpload({ origin, photo, output })]),
    '',
    products.length > 1
      ? '# then GET /tryon/v1/generations/{generationId} has the result'
      : '# waits up to 1 minute for the result',
    [
      `curl -sS ${quote(`${origin}/tryon/v1/${products.length > 1 ? 'outfits' : 'try-on/sync'}`)} -H "x-api-key: $DRAPE_API_KEY"`,
      `  --form-string data=${json}`,
      ...(crop ? [`  -F ${quote(fileField('photo', nameOf(photo, 'photo.jpg')))}`] : []),
      ...products.map(({ image }, i) => `  -F ${quote(fileField(FIELDS[i], nameOf(image, 'product.jpg')))}`),
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

/** The call as a program with the client. */
export function writeProgram({ origin, photo, products, options }) {
  const { crop = true, ...output } = options
  const read = (image, name) => `await readPicture(${text(nameOf(image, name))})`
  const described = products.map(({ image, title, category }) => {
    const source = read(image, 'product.jpg')
    const classified =
      category === '' ? source : `{ source: ${source}, classifications: { category: ${text(category)} } }`
    return `{ ${[...(title === '' ? [] : [`title: ${text(title)}`]), `images: [${classified}]`].join(', ')} }`
  })
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
    described.length > 1 ? '  .outfit({' : '  .tryOn({',
    `    person: ${crop ? photoCode : '{ id: imageId }'},`,
    described.length > 1 ? `    products: [${described.join(', ')}],` : `    product: ${described[0]},`,
    ...(Object.keys(sent).length === 0 ? [] : [`    output: { ${Object.entries(sent).map(entry).join(', ')} },`]),
    '  })',
    `  .wait({ onProgress: ({ status, progress }) => console.log(status, progress ?? '') })`,
    'console.log(generationId, resultImageUrl)',
  ].join('\n')
}

/** The call as a program with the Python client. */
export function writePython({ origin, photo, products, options }) {
  const { crop = true, ...output } = options
  const path = (image, name) => `Path(${JSON.stringify(nameOf(image, name))})`
  const described = products.map(({ image, title, category }) => {
    const source = path(image, 'product.jpg')
    const classified =
      category === '' ? source : `{"source": ${source}, "classifications": {"category": ${JSON.stringify(category)}}}`
    return `{${[...(title === '' ? [] : [`"title": ${JSON.stringify(title)}`]), `"images": [${classified}]`].join(', ')}}`
  })
  const sent = crop ? output : without(output, 'keepForDays')
  const days = output.keepForDays === undefined ? '' : `, keep_for_days=${output.keepForDays}`
  const photoCode = path(photo, 'photo.jpg')
  return [
    'import os',
    'from pathlib import Path',
    '',
    'from drape_client import Drape',
    '',
    `drape = Drape(${JSON.stringify(origin)}, api_key=os.environ["DRAPE_API_KEY"])`,
    ...(crop ? [] : [`photo = drape.upload(${photoCode}, crop=False${days})`]),
    `generation = drape.${described.length > 1 ? 'outfit' : 'try_on'}(`,
    `    person=${crop ? photoCode : '{"id": photo["imageId"]}'},`,
    described.length > 1 ? `    products=[${described.join(', ')}],` : `    product=${described[0]},`,
    ...(Object.keys(sent).length === 0 ? [] : [`    output={${Object.entries(sent).map(pythonEntry).join(', ')}},`]),
    ').wait(on_progress=lambda g: print(g["status"], g.get("progress", "")))',
    'print(generation["generationId"], generation["resultImageUrl"])',
  ].join('\n')
}

/** Strings of JSON are strings of Python too. */
function pythonEntry([name, value]) {
  const written = typeof value === 'boolean' ? (value ? 'True' : 'False') : JSON.stringify(value)
  return `"${name}": ${written}`
}

/** A product as the call sends it. */
export function describeProduct({ title, category, source }) {
  return {
    ...(title !== '' && { title }),
    images: [{ source, ...(category !== '' && { classifications: { category } }) }],
  }
}

function nameOf(image, placeholder) {
  return image?.name ?? placeholder
}

/** Quotes any text as a single shell word. */
function quote(word) {
  return `'${quoteInside(word)}'`
}

function quoteInside(word) {
  return word.replaceAll("'", `'\\''`)
}

/** curl accepts a quoted file name with these two escapes only. */
function fileField(field, name) {
  return `${field}=@"${name.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`
}

/** One line per part. */
function spread(data) {
  const lines = Object.entries(data).map(([name, value]) => `    "${name}": ${spaced(value)}`)
  return `{\n${lines.join(',\n')}\n  }`
}

function spaced(value) {
  return JSON.stringify(value, null, 1).replaceAll(/\n\s*/g, ' ')
}

/** A string literal in a program. */
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
