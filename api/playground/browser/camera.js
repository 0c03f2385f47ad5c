const dialog = document.querySelector('#camera')
const video = dialog.querySelector('video')
const problem = dialog.querySelector('.problem')
const shoot = dialog.querySelector('[data-shoot]')

const REASONS = {
  NotAllowedError: 'The browser blocks the camera. Allow the camera in the address bar, then try again.',
  NotFoundError: 'No camera was found.',
  NotReadableError: 'Another program is using the camera.',
}

/** Shows the camera image. Resolves to a JPEG, or to null when the dialog was closed. */
export async function openCamera() {
  problem.hidden = true
  shoot.disabled = true
  dialog.showModal()
  const closed = new Promise((resolve) => dialog.addEventListener('close', () => resolve(null), { once: true }))
  const shot = new Promise((resolve) => {
    shoot.onclick = () => resolve(photograph())
  })
  dialog.querySelector('[data-close]').onclick = () => dialog.close()
  const stream = await start()
  // The dialog may have been closed while the browser asked for permission.
  const blob = dialog.open ? await Promise.race([closed, shot]) : null
  for (const track of stream?.getTracks() ?? []) track.stop()
  video.srcObject = null
  if (dialog.open) dialog.close()
  return blob
}

async function start() {
  try {
    const stream = await navigator.mediaDevices.getUserMedia({ video: { width: 1920, height: 1920 }, audio: false })
    video.srcObject = stream
    await video.play()
    shoot.disabled = false
    return stream
  } catch (error) {
    problem.textContent = REASONS[error.name] ?? `The camera did not start: ${error.message}`
    problem.hidden = false
    return null
  }
}

function photograph() {
  const canvas = document.createElement('canvas')
  canvas.width = video.videoWidth
  canvas.height = video.videoHeight
  canvas.getContext('2d').drawImage(video, 0, 0)
  return new Promise((resolve) => canvas.toBlob(resolve, 'image/jpeg', 0.92))
}
