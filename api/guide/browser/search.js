// Search: loads the texts of all pages when the field is first used, and lists matches below the header.

const form = document.getElementById('search')
const query = document.getElementById('query')
const found = document.getElementById('found')
const MAX_FOUND = 12
let loading

form.hidden = false
form.addEventListener('submit', (event) => event.preventDefault())
query.addEventListener('focus', load)
query.addEventListener('input', show)

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
    storeFields: ['heading', 'title'],
    searchOptions: { boost: { heading: 3, title: 2 }, prefix: true, fuzzy: 0.2, combineWith: 'AND', boostDocument },
  })
  index.addAll(await answer.json())
  return index
}

/** The guide explains what the reference repeats for each operation. */
function boostDocument(id) {
  return id.startsWith('/docs') ? 0.5 : 1
}

async function show() {
  const text = query.value.trim()
  const index = await load()
  // The reader has continued typing while the texts were loaded.
  if (text !== query.value.trim()) return
  const results = text === '' ? [] : index.search(text).slice(0, MAX_FOUND)
  found.hidden = text === ''
  found.replaceChildren(results.length === 0 ? sentence(`No page contains “${text}”.`) : list(results))
}

function list(results) {
  const items = document.createElement('ul')
  for (const { id, heading, title } of results) {
    const link = document.createElement('a')
    link.href = id
    link.textContent = heading === title ? title : `${title}: ${heading}`
    items.appendChild(document.createElement('li')).append(link)
  }
  return items
}

function sentence(text) {
  const paragraph = document.createElement('p')
  paragraph.textContent = text
  return paragraph
}
