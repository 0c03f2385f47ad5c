import { createAccount, describeCredits } from './account.js'
import { createAttempt, forgetUpload } from './attempt.js'
import { DrapeConnectionError, DrapeTimeoutError } from './client/index.ts'
import { createCodeView } from './code-view.js'
import { hideComparison, showComparison } from './comparison.js'
import { createHistory } from './history.js'
import { acceptPastes, createImageField } from './image-field.js'
import { peekOptions, readOptions } from './options.js'
import { element, showProblem } from './problem-view.js'
import { explain, explainWarning } from './problems.js'
import { endProgress, showProgress, startProgress } from './progress.js'

const find = (id) => document.getElementById(id)
const showCode = createCodeView()
/** The running or interrupted attempt; null when the next start begins a new one. */
let attempt = null
let running = null
/** Whether the input was changed while the attempt ran: then only "Check again" resumes it. */
let isOutdated = false
/** The generation that the service returned last; null before the first response. */
let answer = null

const history = createHistory({
  onChoose: async (result) => {
    if (running === null) await showResult(result)
  },
  // Links of images work for an hour.
  renew: async ({ generation: { generationId: id }, afterUrl }) => {
    const generation = await account.client()?.generations.get(id)
    const isSame = ({ url }) => new URL(url).pathname === new URL(afterUrl).pathname
    return generation && linksOf(generation).find(isSame)?.url
  },
})
const account = createAccount({
  onUse: ({ id }) => history.restore(id),
  onForget: () => {
    running?.abort()
    forgetResults()
    attempt = null
  },
  onPrices: showPrice,
})

const photo = createImageField(document.querySelector('[data-image-field=photo]'), { onChange: changed })
const [product, second] = ['product', 'second'].map((name) => {
  const section = document.querySelector(`[data-image-field=${name}]`)
  const onChange = ({ title }) => {
    if (title !== '') find(`${name}-name`).value = title
    changed()
  }
  // The service may have no outfits.
  return section && createImageField(section, { onChange })
})
acceptPastes([photo, product], second === null ? [] : [second])
// One message at a time: what is wrong with the key is said at its field.
find('key-form').addEventListener('submit', () => {
  find('problem').hidden = true
})
find('try-on').addEventListener('input', changed)
find('try-on').addEventListener('submit', (event) => {
  event.preventDefault()
  start()
})
find('look-again').addEventListener('click', proceed)
find('cancel').addEventListener('click', cancel)
changed()

function describeCall(options) {
  const products = [describeProductOf('product', product)]
  if (second?.get()) products.push(describeProductOf('second', second))
  return { origin: location.origin, photo: photo.get(), products, options, answer }
}

function describeProductOf(name, field) {
  return { image: field.get(), title: find(`${name}-name`).value.trim(), category: find(`${name}-category`).value }
}

/** Results belong to the key that is removed. */
function forgetResults() {
  history.clear()
  answer = null
  hideComparison()
  for (const id of ['facts', 'download']) find(id).hidden = true
  find('waiting').hidden = false
  say('')
  showCode(describeCall(peekOptions(find('try-on'))))
}

/** The next start is a new request. */
function changed() {
  if (running === null) {
    attempt = null
    find('look-again').hidden = true
  } else isOutdated = true
  showCode(describeCall(peekOptions(find('try-on'))))
  showPrice()
}

function showPrice() {
  const { engine, count } = peekOptions(find('try-on'))
  const price = account.priceOf({ engine, count, products: second?.get() ? 2 : 1 })
  find('price').textContent =
    price === null
      ? ''
      : price === 0
        ? 'Free of charge.'
        : `Costs ${describeCredits(price)}, refunded if the try-on fails.`
}

/** Starts a new attempt, or resumes an interrupted one if nothing was changed. */
async function start() {
  await account.takeTyped()
  if (running !== null) return
  // An invalid key has its message at the field.
  if (account.client() === null) return find('key-problem').hidden ? askForKey() : find('key').focus()
  const missing = [photo, product].find(({ get }) => get() === null)
  if (missing) return askForImage(missing)
  const options = readOptions(find('try-on'))
  if (options === null) return
  if (attempt === null || isOutdated) {
    attempt = createAttempt({ drape: account.client(), ...describeCall(options) })
    isOutdated = false
  }
  return proceed()
}

function askForKey() {
  showProblem(find('problem'), {
    title: 'The API key is missing',
    advice: 'Enter your API key above. Your images stay selected.',
  })
  find('key').focus()
}

function askForImage(field) {
  const what = field === photo ? 'a photo' : 'an image of a product'
  showProblem(find('problem'), { title: `Choose ${what}`, advice: 'Drop a file or use a sample.' })
  field.section.querySelector('input[type=file]').focus()
}

async function proceed() {
  running = new AbortController()
  const { signal } = running
  const mine = attempt
  begin()
  try {
    const generation = await mine.proceed({ signal, onStage: showStage })
    const results = describeResults(mine, generation)
    await showResult(results[0])
    history.add(results)
    attempt = null
  } catch (error) {
    if (error !== signal.reason) fail(error, mine)
    else say('Cancelling …')
  } finally {
    running = null
    end()
  }
}

function begin() {
  find('problem').hidden = true
  find('waiting').hidden = true
  hideComparison()
  const { src, hidden } = photo.section.querySelector('.preview')
  Object.assign(find('behind'), { src, hidden })
  for (const id of ['facts', 'download', 'look-again']) find(id).hidden = true
  find('cancel').hidden = false
  startProgress()
  find('stage').classList.add('busy')
  find('go').disabled = true
}

function end() {
  find('cancel').hidden = true
  endProgress()
  find('stage').classList.remove('busy')
  find('behind').hidden = true
  find('go').disabled = false
  if (find('comparison').hidden) find('waiting').hidden = false
  account.refresh()
}

function showStage({ stage, generation }) {
  const name = stage === 'wait' ? { PENDING: 'queue', PROCESSING: 'work' }[generation.status] : stage
  const percent = name && showProgress(name, generation?.progress)
  say(describeStage(stage, { ...generation, percent }))
}

function describeStage(stage, generation) {
  if (stage === 'upload') return 'Sending the photo …'
  if (stage === 'send') return 'Sending the product …'
  const { status, queuePosition, estimatedSeconds, percent } = generation
  if (status === 'PROCESSING') return `Working … ${percent} %`
  if (status !== 'PENDING') return ''
  const place = queuePosition === undefined ? 'In the queue' : `In the queue at position ${queuePosition}`
  return estimatedSeconds === undefined ? `${place} …` : `${place}, about ${estimatedSeconds} s …`
}

function say(text) {
  if (find('said').textContent !== text) find('said').textContent = text
}

/** What is shown of a generation that has completed: each of its images, best first. */
function describeResults(mine, generation) {
  if (!generation.resultImageUrl) throw new Error('The result has already been deleted')
  return linksOf(generation).map(({ url, about }) => ({
    generation,
    title: find('product-name').value.trim(),
    beforeUrl: mine.beforeUrl(),
    afterUrl: url,
    summary: `Done in ${(mine.elapsed() / 1000).toFixed(1)} s.${about}`,
  }))
}

function linksOf({ resultImageUrl, results = [{ imageUrl: resultImageUrl }] }) {
  const links = results.flatMap(({ seed, imageUrl, changedMaskUrl }) => [
    { url: imageUrl, about: seed === undefined ? '' : ` Seed ${seed}.` },
    { url: changedMaskUrl, about: ` Mask of seed ${seed}.` },
  ])
  return links.filter(({ url }) => url)
}

async function showResult({ generation, beforeUrl, afterUrl, summary }) {
  const { generationId, engine, category, layers = [], results = [], warnings = [] } = generation
  answer = generation
  showCode(describeCall(peekOptions(find('try-on'))))
  await showComparison({ beforeUrl, afterUrl })
  find('problem').hidden = true
  find('waiting').hidden = true
  say(summary)
  const download = find('download')
  download.href = afterUrl
  download.download = `${generationId}${/\.\w+(?=\?|$)/.exec(afterUrl)?.[0] ?? ''}`
  download.hidden = false
  showFacts([
    ...(engine ? [['Engine', `${engine.name} ${engine.version} (${engine.license})`]] : []),
    ...(category ? [['Category', category]] : []),
    ['Generation', generationId],
    ...layers.map(({ layer, applied, errorMessage }) => ['Layer', applied ? layer : `${layer}: ${errorMessage}`]),
    ...results.flatMap(({ seed, errorMessage }) => (errorMessage ? [[`Seed ${seed}`, errorMessage]] : [])),
    ...warnings.map((code) => ['Note', explainWarning(code)]),
  ])
}

function showFacts(entries) {
  find('facts').replaceChildren(
    ...entries.flatMap(([name, value]) => [element('dt', { text: name }), element('dd', { text: value })]),
  )
  find('facts').hidden = false
}

function fail(error, { id: idOf, images }) {
  say('')
  const isOpen = error instanceof DrapeConnectionError || error instanceof DrapeTimeoutError
  const id = idOf()
  if (!isOpen) {
    forgetUpload(images.photo.blob)
    attempt = null
  }
  const sizes = { photo: images.photo.size, product: images.product.size }
  showProblem(find('problem'), { ...explain(error, sizes), ...(isOpen && adviseAfterBreak(id)) })
  find('look-again').hidden = !(isOpen && id !== null)
  find('problem').focus()
}

/** Overrides the advice to repeat the same request where the next start would send another one. */
function adviseAfterBreak(id) {
  if (id !== null) return { advice: `The generation ${id} continues without this page. Check again to see its result.` }
  if (!isOutdated) return {}
  return {
    advice:
      'You changed the input meanwhile: the next try-on is a new request. The interrupted one may be charged too.',
  }
}

async function cancel() {
  const mine = attempt
  attempt = null
  running?.abort()
  try {
    const generation = await mine.cancel()
    say(describeCancelled(generation))
  } catch (error) {
    showProblem(find('problem'), explain(error))
  }
  await account.refresh()
}

function describeCancelled(generation) {
  if (generation === null) return 'Cancelled.'
  return generation.status === 'FAILED' ? 'Cancelled. The price was refunded.' : 'The generation had already ended.'
}
