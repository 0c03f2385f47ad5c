import { element } from './problem-view.js'

/** Maximum number of results; the oldest one is removed first. */
const MAX_RESULTS = 12
const section = document.querySelector('#history')
const list = section.querySelector('ul')

/**
 * The results of this tab, newest first, only in memory. `onChoose` shows a result again. Results with an expired image
 * are removed.
 */
export function createHistory({ onChoose }) {
  const mark = (chosen) => {
    for (const button of list.querySelectorAll('button')) button.setAttribute('aria-pressed', String(button === chosen))
  }
  return {
    add: (result) => {
      const button = element('button', { text: '' })
      button.type = 'button'
      const name = result.title === '' ? 'Try-on' : result.title
      const image = element('img', { text: '' })
      image.alt = ''
      image.src = result.afterUrl
      button.append(image, element('span', { text: name }), element('small', { text: result.summary }))
      const item = element('li', { text: '' })
      item.append(button)
      image.addEventListener('error', () => {
        item.remove()
        section.hidden = list.childElementCount === 0
      })
      button.addEventListener('click', async () => {
        await onChoose(result)
        mark(button)
      })
      list.prepend(item)
      if (list.childElementCount > MAX_RESULTS) list.lastElementChild.remove()
      mark(button)
      section.hidden = false
    },
    clear: () => {
      list.replaceChildren()
      section.hidden = true
    },
  }
}
