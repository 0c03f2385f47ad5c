const figure = document.querySelector('#comparison')
const frame = figure.querySelector('.frame')
const range = figure.querySelector('input')
const [before, after] = ['.before', '.after'].map((selector) => figure.querySelector(selector))

function move() {
  frame.style.setProperty('--share', `${100 - range.value}%`)
  range.setAttribute('aria-valuetext', `${range.value} % of the result`)
}
range.addEventListener('input', move)
before.addEventListener('error', () => frame.classList.add('alone'))

/**
 * Shows the result over its photo; alone if the browser cannot show the photo. Rejects when the result cannot be shown.
 */
export async function showComparison({ beforeUrl, afterUrl }) {
  frame.classList.toggle('alone', beforeUrl === null)
  if (beforeUrl === null) before.removeAttribute('src')
  else before.src = beforeUrl
  after.src = afterUrl
  await after.decode()
  frame.style.setProperty('--shape', `${after.naturalWidth} / ${after.naturalHeight}`)
  range.value = 50
  move()
  figure.hidden = false
}

export function hideComparison() {
  figure.hidden = true
}
