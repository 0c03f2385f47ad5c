import { openCamera } from './camera.js'
import { MAX_FILE_BYTES } from './client/index.ts'
import { explainSize } from './image-size.js'

/**
 * Field for one image: dropped, chosen, pasted, taken with the camera, or a sample. `get()` returns null or `{ blob,
 * name, sampleUrl, size }`; `sampleUrl` is null unless the image is a sample, `size` is null until the browser has decoded
 * the image.
 */
export function createImageField(section, { onChange }) {
  const part = (selector) => section.querySelector(selector)
  const [input, drop, preview, problem] = ['input[type=file]', '.drop', '.preview', '.problem'].map(part)
  const samples = [...section.querySelectorAll('.sample')]
  let image = null
  let turn = 0

  const show = (text) => {
    problem.textContent = text
    problem.hidden = text === ''
  }
  const set = (chosen, { title = '' } = {}) => {
    turn++
    image = chosen && { ...chosen, size: null }
    show('')
    if (preview.src) URL.revokeObjectURL(preview.src)
    preview.hidden = chosen === null
    if (chosen === null) preview.removeAttribute('src')
    else preview.src = URL.createObjectURL(chosen.blob)
    drop.classList.toggle('filled', chosen !== null)
    part('.chosen').textContent = chosen === null ? '' : chosen.name
    part('[data-remove]').hidden = chosen === null
    for (const sample of samples) sample.setAttribute('aria-pressed', String(sample.dataset.url === chosen?.sampleUrl))
    onChange({ title })
  }
  const take = async (blob, name = blob.name) => {
    const mine = ++turn
    const format = formatOf(new Uint8Array(await blob.slice(0, 12).arrayBuffer()))
    if (mine !== turn) return
    if (blob.size > MAX_FILE_BYTES) return show(`${name} is larger than 10 MB. The previous image stays selected.`)
    if (blob.size === 0) return show(`${name} is empty.`)
    if (format === null) return show(`${name} is not an image. Choose a JPEG, PNG, WebP or HEIC file.`)
    set({ blob, name, sampleUrl: null, format })
  }
  const refuse = (text) => {
    set(null)
    show(text)
  }
  const takeSample = async ({ url, file, title }) => {
    const mine = ++turn
    try {
      const answer = await fetch(url)
      if (!answer.ok) throw new Error(`the server returned ${answer.status}`)
      const blob = await answer.blob()
      // Ignore the sample if the user has chosen another image meanwhile.
      if (mine === turn) set({ blob, name: file, sampleUrl: url }, { title })
    } catch (error) {
      if (mine === turn) show(`The sample could not be loaded: ${error.message}. Try again.`)
    }
  }

  preview.addEventListener('error', () => {
    if (image === null) return
    // Not every browser shows HEIC.
    if (image.format !== 'HEIC') return refuse(`${image.name} is damaged. Choose another file.`)
    preview.hidden = true
    drop.classList.remove('filled')
    part('.chosen').textContent =
      `${image.name} (this browser cannot show this image, but the service may be able to read it)`
  })
  preview.addEventListener('load', () => {
    drop.classList.add('filled')
    if (image === null) return
    image.size = { width: preview.naturalWidth, height: preview.naturalHeight }
    const wrong = explainSize('INVALID_IMAGE', image.size)
    if (wrong !== null) refuse(`${wrong.title}. ${wrong.advice}`)
  })
  input.addEventListener('change', () => {
    if (input.files.length > 0) take(input.files[0])
    input.value = ''
  })
  part('[data-remove]').addEventListener('click', () => {
    set(null)
    input.focus()
  })
  for (const sample of samples) sample.addEventListener('click', () => takeSample(sample.dataset))
  acceptDrops(section, { take, show })
  offerCamera(part('[data-camera]'), take)
  return { get: () => image, take, section }
}

/** Format by the first 12 bytes, as the service decides; null for any other file. */
function formatOf(bytes) {
  const text = String.fromCharCode(...bytes)
  if (text.startsWith('\xff\xd8\xff')) return 'JPEG'
  if (text.startsWith('\x89PNG')) return 'PNG'
  if (/^RIFF.{4}WEBP/s.test(text)) return 'WebP'
  return /^.{4}ftyp(hei|hev|mif1|msf1)/s.test(text) ? 'HEIC' : null
}

function acceptDrops(section, { take, show }) {
  const hover = (is) => section.classList.toggle('hovered', is)
  section.addEventListener('dragover', (event) => {
    event.preventDefault()
    hover(true)
  })
  section.addEventListener('dragleave', (event) => {
    if (!section.contains(event.relatedTarget)) hover(false)
  })
  section.addEventListener('drop', (event) => {
    event.preventDefault()
    hover(false)
    const [file] = event.dataTransfer.files
    if (file) take(file)
    else show('This is not a file. Save the image first, then drop the file.')
  })
}

function offerCamera(button, take) {
  // Only pages with TLS and pages of localhost may use the camera.
  if (!navigator.mediaDevices?.getUserMedia) return
  button.hidden = false
  button.addEventListener('click', async () => {
    const blob = await openCamera()
    if (blob) take(blob, 'camera.jpg')
    button.focus()
  })
}

/** A pasted image goes to the focused field, else to the first empty field of those that are always shown. */
export function acceptPastes(fields, hidden = []) {
  document.addEventListener('paste', (event) => {
    const file = [...event.clipboardData.files].find(({ type }) => type.startsWith('image/'))
    if (!file) return
    event.preventDefault()
    const focused = [...fields, ...hidden].find(({ section }) => section.contains(document.activeElement))
    const field = focused ?? fields.find(({ get }) => get() === null) ?? fields[0]
    field.take(file, file.name || 'pasted.png')
  })
  // A file dropped elsewhere must not replace the page.
  for (const type of ['dragover', 'drop']) window.addEventListener(type, (event) => event.preventDefault())
}
