// Search: loads the texts of all pages when the field is first used, and lists matches below the header. Copy buttons of code.

const form = document.getElementById('search')
const query = document.getElementById('query')
const found = document.getElementById('found')
const MAX_FOUND = 12
const LANGUAGES = { sh: 'curl', ts: 'TypeScript', python: 'Python', php: 'PHP', ruby: 'Ruby' }
const EXCERPT_WORDS = 24
/** Words of questions that say nothing about their subject. */
const STOP_WORDS = new Set(
  'a an and are can change do does for from get how i in is it my of on or the to use what when where with'.split(' '),
)
let loading

form.hidden = false
form.addEventListener('submit', (event) => {
  event.preventDefault()
  found.querySelector('a')?.click()
})
query.addEventListener('focus', load)
query.addEventListener('input', show)
document.addEventListener('keydown', (event) => {
  const isTyping = event.target.matches('input, textarea, select')
  if (event.key === '/' && !isTyping && !event.ctrlKey && !event.metaKey && !event.altKey) {
    event.preventDefault()
    query.focus()
  } else if (event.key === 'Escape' && !found.hidden) {
    query.value = ''
    show()
    query.focus()
  } else if (event.key === 'ArrowDown' || event.key === 'ArrowUp') move(event)
})

for (const block of document.querySelectorAll('article pre:has(code[class]:not(.language-http))')) addCopyButton(block)

for (const block of document.querySelectorAll('.code:not(.code + .code)')) addTabs(block)

/** Moves between the field and the results. */
function move(event) {
  const stops = [query, ...found.querySelectorAll('a')]
  const place = stops.indexOf(document.activeElement)
  if (place === -1 || stops.length === 1) return
  event.preventDefault()
  stops[Math.min(Math.max(place + (event.key === 'ArrowDown' ? 1 : -1), 0), stops.length - 1)].focus()
}

function load() {
  loading ??= loadIndex().catch((error) => {
    loading = undefined
    throw error
  })
  return loading
}

async function loadIndex() {
  const [{ default: MiniSearch }, answer] = await Promise.all([
    import('/guide/assets/minisearch.js'),
    fetch('/guide/search.json'),
  ])
  const index = new MiniSearch({
    fields: ['heading', 'title', 'text'],
    storeFields: ['heading', 'title', 'text'],
    processTerm,
    searchOptions: {
      boost: { heading: 3, title: 2 },
      prefix: (term) => term.length > 3,
      fuzzy: (term) => term.length > 5 && 0.15,
      boostDocument,
    },
  })
  index.addAll(await answer.json())
  return index
}

/** Plurals find singulars. */
function processTerm(term) {
  const word = term.toLowerCase()
  if (STOP_WORDS.has(word)) return null
  return word.length > 3 ? word.replace(/(?<=s|x|ch)es$|(?<=[^su])s$/, '') : word
}

/** The guide explains what the reference repeats for each operation. */
function boostDocument(id) {
  return /^\/docs|^\/guide\/(changelog|runbooks\/)/.test(id) ? 0.4 : 1
}

/** Sections with all words; without any, those with some of them. */
function search(index, text) {
  const results = index.search(text, { combineWith: 'AND' })
  return (results.length > 0 ? results : index.search(text)).slice(0, MAX_FOUND)
}

async function show() {
  const text = query.value.trim()
  const index = await load()
  // The reader has continued typing while the texts were loaded.
  if (text !== query.value.trim()) return
  const results = text === '' ? [] : search(index, text)
  found.hidden = text === ''
  found.replaceChildren(results.length === 0 ? element('p', `No page contains “${text}”.`) : list(results))
}

function list(results) {
  const items = element('ul')
  for (const { id, heading, title, text, terms } of results) {
    const link = element('a', heading === title ? title : `${title}: ${heading}`)
    link.href = id
    items.appendChild(element('li')).append(link, excerptOf(text, terms))
  }
  return items
}

/** The words around the first one that was found, which is marked like the others. */
function excerptOf(text, terms) {
  const excerpt = element('p')
  const words = text.split(/\s+/)
  const isFound = (word) => terms.some((term) => word.toLowerCase().includes(term))
  const start = Math.max(words.findIndex(isFound) - 6, 0)
  for (const word of words.slice(start, start + EXCERPT_WORDS))
    excerpt.append(isFound(word) ? element('mark', word) : word, ' ')
  if (start + EXCERPT_WORDS < words.length) excerpt.append('…')
  return excerpt
}

function addCopyButton(block) {
  const button = element('button', 'Copy')
  button.type = 'button'
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(block.textContent)
    button.textContent = 'Copied'
    setTimeout(() => {
      button.textContent = 'Copy'
    }, 2000)
  })
  const frame = element('div')
  frame.className = 'code'
  block.before(frame)
  frame.append(button, block)
}

/** Blocks one after another that say the same in several languages become tabs. Without this script all of them are shown. */
function addTabs(first) {
  const blocks = [first]
  while (blocks.at(-1).nextElementSibling?.matches('.code')) blocks.push(blocks.at(-1).nextElementSibling)
  const languages = blocks.map((block) => /language-(\w+)/.exec(block.querySelector('code').className)?.[1])
  if (!['ts', 'python'].every((language) => languages.includes(language))) return
  const list = Object.assign(element('div'), { className: 'tabs', role: 'tablist', ariaLabel: 'Language' })
  const tabs = languages.map((language, i) => {
    const id = `${language}-${document.querySelectorAll('.tabs').length}`
    Object.assign(blocks[i], { id, role: 'tabpanel', ariaLabel: LANGUAGES[language] })
    const tab = Object.assign(element('button', LANGUAGES[language]), { type: 'button', role: 'tab' })
    tab.setAttribute('aria-controls', id)
    tab.addEventListener('click', () => choose(i))
    tab.addEventListener('keydown', ({ key }) => {
      const step = { ArrowLeft: -1, ArrowRight: 1 }[key] ?? 0
      if (step !== 0) choose((i + step + tabs.length) % tabs.length).focus()
    })
    return tab
  })
  const choose = (chosen) => {
    for (const [i, tab] of tabs.entries()) {
      Object.assign(tab, { ariaSelected: String(i === chosen), tabIndex: i === chosen ? 0 : -1 })
      blocks[i].hidden = i !== chosen
    }
    return tabs[chosen]
  }
  list.append(...tabs)
  first.before(list)
  choose(0)
}

function element(name, text = '') {
  return Object.assign(document.createElement(name), { textContent: text })
}
