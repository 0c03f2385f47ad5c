const bar = document.querySelector('#progress')
const clock = document.querySelector('#elapsed')
const calm = matchMedia('(prefers-reduced-motion: reduce)')
/** Shares of the bar at which each stage begins; a stage never reaches the next one by itself. */
const STARTS = { upload: 0.02, send: 0.12, queue: 0.2, work: 0.3, done: 1 }
/** Time in which the bar covers two thirds of the rest of a stage. */
const PACE_MS = 12_000

let floor = 0
let ceiling = 0
let shown = 0
let last = 0
let startedAt = 0
let timer = null

/** Starts the bar and the clock. */
export function startProgress() {
  ;[floor, ceiling, shown, startedAt] = [0, STARTS.send, 0, performance.now()]
  bar.hidden = clock.hidden = false
  timer ??= requestAnimationFrame(move)
}

/** Moves the bar to a stage, and returns its percentage there; `share` is the part of the work that is done, 0 to 1. */
export function showProgress(stage, share = 0) {
  const names = Object.keys(STARTS)
  const [from, to] = [STARTS[stage], STARTS[names[names.indexOf(stage) + 1]]]
  floor = from + (to - from) * share
  // The text names what the service reports of the work: the bar must agree with it.
  ceiling = stage === 'work' ? floor : to
  return Math.round(floor * 100)
}

export function endProgress() {
  cancelAnimationFrame(timer)
  timer = null
  bar.hidden = clock.hidden = true
}

function move(now) {
  const passed = Math.min(now - last, 100)
  last = now
  if (calm.matches) shown = floor
  else {
    shown += Math.max(0, floor - shown) * Math.min(1, passed / 200)
    shown += Math.max(0, ceiling - Math.max(shown, floor)) * (passed / PACE_MS)
  }
  bar.value = shown
  const seconds = `${Math.floor((performance.now() - startedAt) / 1000)} s`
  if (clock.textContent !== seconds) clock.textContent = seconds
  timer = requestAnimationFrame(move)
}
