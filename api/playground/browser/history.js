import { element } from './problem-view.js'

/** Maximum number of results; the oldest one is removed first. */
const MAX_RESULTS = 12
const PLACE = 'drape-results'
const section = document.querySelector('#history')
const list = section.querySelector('ul')

/**
 * The results of an account in this tab, newest first; they survive a reload. `onChoose` shows a result again, `renew` resolves to
 * another link of its image, or to undefined: then the result is removed.
 */
export function createHistory({ onChoose, renew }) {
  let owner = null
  let results = []

  const save = () => {
    try {
      if (results.length === 0) sessionStorage.removeItem(PLACE)
      else sessionStorage.setItem(PLACE, JSON.stringify({ owner, results }))
    } catch {
      // Storage is disabled or full: the results stay until the page is closed.
    }
  }
  const mark = (chosen) => {
    for (const button of list.querySelectorAll('button')) button.setAttribute('aria-pressed', String(button === chosen))
  }
  const remove = (result) => {
    results = results.filter((other) => other !== result)
    save()
    draw()
  }
  const present = (result) => {
    const button = element('button', { text: '' })
    button.type = 'button'
    const image = element('img', { text: '' })
    image.alt = ''
    image.src = result.afterUrl
    const name = result.title === '' ? 'Try-on' : result.title
    button.append(image, element('span', { text: name }), element('small', { text: result.summary }))
    image.addEventListener('error', async () => {
      const link = await renew(result).catch(() => undefined)
      if (link === undefined || link === result.afterUrl) return remove(result)
      Object.assign(result, { afterUrl: link, beforeUrl: null })
      image.src = link
      save()
    })
    button.addEventListener('click', async () => {
      await onChoose(result)
      mark(button)
    })
    const item = element('li', { text: '' })
    item.append(button)
    return item
  }
  const draw = () => {
    list.replaceChildren(...results.map(present))
    section.hidden = results.length === 0
  }
  return {
    /** The first one is shown. */
    add: (added) => {
      results = [...added, ...results].slice(0, MAX_RESULTS)
      save()
      draw()
      mark(list.querySelector('button'))
    },
    /** Shows the results that this account had before a reload, and forgets those of another one. */
    restore: (id) => {
      if (owner === id) return
      owner = id
      const kept = readKept()
      results = kept.owner === id ? kept.results : []
      save()
      draw()
    },
    clear: () => {
      owner = null
      results = []
      save()
      draw()
    },
  }
}

function readKept() {
  try {
    return JSON.parse(sessionStorage.getItem(PLACE)) ?? {}
  } catch {
    return {}
  }
}
