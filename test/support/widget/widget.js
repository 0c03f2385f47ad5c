// What a shop's widget does, in the fewest words.

const PROXY = '/apps/drape'
const PRODUCT_ID = 'gid://shopify/Product/1001'
const TITLE = 'Mustard T-shirt'
const anonymousId = `anon_${crypto.randomUUID()}`
const clientId = crypto.randomUUID()
const pageviewId = crypto.randomUUID()
const queue = []
let imageId = null
let generation = null

const element = (id) => document.getElementById(id)

async function call(path, body) {
  const answer = await fetch(`${PROXY}/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-service-anonymous-id': anonymousId },
    body: body === undefined ? undefined : JSON.stringify(body),
  })
  const result = await answer.json()
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${JSON.stringify(result)}`)
  return result
}

function track(event, properties = {}) {
  queue.push({ event, properties, timestamp: new Date().toISOString(), $insert_id: crypto.randomUUID() })
}

/** Sends what happened; twice, as after an answer that was lost. */
async function flush() {
  const batch = { events: queue.splice(0), context: contextOf() }
  for (let i = 0; i < 2; i++) {
    const { success, message } = await call('tracking/events', batch)
    if (!success) throw new Error(message)
  }
}

function contextOf() {
  return {
    $current_url: location.href,
    $pathname: location.pathname,
    $host: location.host,
    $referrer: document.referrer || null,
    $referring_domain: null,
    $screen_width: screen.width,
    $screen_height: screen.height,
    $viewport_width: innerWidth,
    $viewport_height: innerHeight,
    $raw_user_agent: navigator.userAgent,
    $browser_language: navigator.language,
    $timezone: Intl.DateTimeFormat().resolvedOptions().timeZone,
    $session_id: `sess_${clientId}`,
    $pageview_id: pageviewId,
    service_client_id: clientId,
    service_widget_enabled: true,
    service_product_id: PRODUCT_ID,
    service_variant_id: null,
    service_lib_version: '1.0.0',
  }
}

/** Runs a step, reports what happened and shows the state that it ends in. */
function step(state, work) {
  return async (event) => {
    event.preventDefault()
    try {
      await work(event)
      await flush()
      document.body.dataset.state = state
    } catch (error) {
      document.body.dataset.state = 'failed'
      element('message').textContent = String(error)
    }
  }
}

async function show(image, url) {
  image.crossOrigin = 'anonymous'
  image.src = url
  await image.decode()
}

async function upload({ target }) {
  track('widget:image_upload')
  const { uploadUrl, uploadKey } = await call('prepare-upload')
  const sent = await fetch(uploadUrl, { method: 'PUT', body: target.files[0] })
  if (!sent.ok) throw new Error(`upload: ${sent.status}`)
  const { fileId, fileUrl } = await call('upload-complete', { uploadKey })
  imageId = fileId
  await show(element('preview'), fileUrl)
  track('widget:image_upload_success')
}

async function tryOn() {
  track('widget:generation_start', { productId: PRODUCT_ID })
  const { jobId } = await call('fitting-room', { userImageId: imageId, productId: PRODUCT_ID })
  generation = await follow(jobId)
  if (generation.status !== 'COMPLETED') throw new Error(JSON.stringify(generation))
  await show(element('result'), generation.resultImageUrl)
  track('widget:result_view', { generationId: jobId })
}

/** Reads the stream until it ends, with the headers that `EventSource` cannot send; a broken line is read again. */
async function follow(jobId) {
  const answer = await fetch(`${PROXY}/generation/${jobId}/events`, {
    headers: { 'x-service-anonymous-id': anonymousId },
  })
  if (answer.status !== 200) throw new Error(`events: ${answer.status}`)
  const events = (await answer.text().catch(() => '')).matchAll(/^data: (.*)$/gm)
  const seen = JSON.parse([...events].at(-1)?.[1] ?? '{}')
  return seen.status === 'COMPLETED' || seen.status === 'FAILED' ? seen : follow(jobId)
}

async function share() {
  const { generationId } = generation
  const { shareUrl } = await call('share-generation', { generationId, effectiveDomain: location.hostname })
  element('link').textContent = shareUrl
  track('widget:share_clicked', { generationId })
}

async function download() {
  const query = new URLSearchParams({ url: generation.resultImageUrl, filename: TITLE })
  const link = document.createElement('a')
  link.href = `${PROXY}/download-image?${query}`
  link.click()
  track('widget:download_clicked', { generationId: generation.generationId })
}

async function collectEmail() {
  track('widget:email_prompt_view')
  await call('collect-email', { email: element('email').value, marketingConsent: true })
  track('widget:email_collected')
}

async function addToCart() {
  track('widget:add_to_cart_clicked')
  track('widget:add_to_cart_success')
}

/** Red, green and blue at a place (0 to 1) of an image that is shown, which only a page may read that is allowed to. */
globalThis.colourAt = (id, x, y) => {
  const image = element(id)
  const canvas = document.createElement('canvas')
  Object.assign(canvas, { width: image.naturalWidth, height: image.naturalHeight })
  const context = canvas.getContext('2d')
  context.drawImage(image, 0, 0)
  return [...context.getImageData(canvas.width * x, canvas.height * y, 1, 1).data.slice(0, 3)]
}

element('photo').onchange = step('uploaded', upload)
element('try').onclick = step('tried', tryOn)
element('share').onclick = step('shared', share)
element('download').onclick = step('downloaded', download)
element('lead').onsubmit = step('known', collectEmail)
element('cart').onclick = step('bought', addToCart)
track('product_page:page_view')
track('widget:button_view')
