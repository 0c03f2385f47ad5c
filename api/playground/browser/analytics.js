import { readError } from './client/api-error.ts'
import { createDrapeClient, DrapeApiError } from './client/index.ts'
import { createKeyHolder } from './key-holder.js'
import { element, showProblem } from './problem-view.js'
import { explain } from './problems.js'

const find = (id) => document.getElementById(id)
const holder = createKeyHolder()

const STEPS = [
  ['engaged', 'Widget used'],
  ['generationStarted', 'Try-on started'],
  ['resultViewed', 'Result seen'],
  ['tryOnCarted', 'Cart after result'],
]
const RATES = [
  ['cart', 'Cart, of visitors of product pages', 'carted', 'visitors'],
  ['cartAfterResult', 'Cart after a result, of visitors who saw one', 'tryOnCarted', 'resultViewed'],
  ['ordersAfterTryOn', 'Orders after a try-on, of all orders', 'tryOnOrders', 'orders'],
  ['emailCollection', 'E-mail collection rate', 'emailCollected', 'emailPrompted'],
]
const COLUMNS = ['visitors', 'engaged', 'generationStarted', 'resultViewed', 'tryOnCarted', 'carted']
const MORE_COLUMNS = ['orders', 'tryOnOrders', 'emailPrompted', 'emailCollected']

showKeyForm(holder.get() === null)
if (holder.get() !== null) show()

find('key-form').addEventListener('submit', (event) => {
  event.preventDefault()
  const key = find('key').value.trim()
  // Headers and keys contain only these characters.
  if (!/^[\x21-\x7e]+$/.test(key))
    return fail(new DrapeApiError('This is not an API key.', { code: 'INVALID_API_KEY', status: 401 }))
  holder.set(key, { keep: find('keep-key').checked })
  find('key').value = ''
  showKeyForm(false)
  show()
})
find('forget').addEventListener('click', () => {
  holder.forget()
  find('report').hidden = true
  showKeyForm(true)
})
find('range').addEventListener('submit', (event) => {
  event.preventDefault()
  show()
})
find('download').addEventListener('click', download)

function showKeyForm(isShown) {
  find('key-form').hidden = !isShown
  find('range').hidden = isShown
  find('forget').hidden = isShown
  find('problem').hidden = true
}

/** Empty fields are left to the service. */
function readQuery() {
  const fields = ['shop', 'from', 'to'].map((id) => [id, find(id).value.trim()])
  return Object.fromEntries(fields.filter(([, value]) => value !== ''))
}

async function show() {
  find('problem').hidden = true
  find('said').textContent = 'Counting …'
  try {
    const client = createDrapeClient({ url: location.origin, apiKey: holder.get(), retries: 2 })
    present(await client.analytics.get(readQuery()))
  } catch (error) {
    find('report').hidden = true
    find('said').textContent = ''
    fail(error)
  }
}

function fail(error) {
  if (error instanceof DrapeApiError && error.code === 'INVALID_API_KEY') {
    holder.forget()
    showKeyForm(true)
  }
  showProblem(find('problem'), explain(error))
}

function present({ shop, from, to, totals, rates, days }) {
  find('from').value = from
  find('to').value = to
  const first = totals[STEPS[0][0]]
  fill(
    'funnel',
    STEPS.map(([name, title]) => [title, count(totals[name]), share(first === 0 ? null : totals[name] / first)]),
  )
  fill(
    'rates',
    RATES.map(([name, title, part, whole]) => [title, count(totals[part]), count(totals[whole]), share(rates[name])]),
  )
  fill(
    'days',
    days.toReversed().map((day) => [day.day, ...[...COLUMNS, ...MORE_COLUMNS].map((name) => count(day[name]))]),
  )
  const isEmpty = totals.visitors + totals.engaged + totals.orders === 0
  const none = isEmpty
    ? ' There are no events in these days. The widget sends them once it is on the pages of a shop.'
    : ''
  find('said').textContent = `${shop ?? 'All shops'}, ${from} to ${to} (UTC).${none}`
  find('report').hidden = false
}

function fill(id, rows) {
  find(id).replaceChildren(
    ...rows.map(([head, ...cells]) => {
      const row = document.createElement('tr')
      const header = element('th', { text: head })
      header.scope = 'row'
      row.append(header, ...cells.map((text) => element('td', { text })))
      return row
    }),
  )
}

function count(number) {
  return number.toLocaleString('en')
}

function share(rate) {
  return rate === null ? '–' : `${(rate * 100).toFixed(1)} %`
}

/** The key is in a header, so the file cannot be a plain link. */
async function download() {
  find('problem').hidden = true
  try {
    const query = new URLSearchParams(readQuery())
    const answer = await fetch(`/tryon/v1/analytics.csv?${query}`, {
      headers: { 'x-api-key': holder.get() },
      redirect: 'error',
    })
    if (!answer.ok) throw readError(answer, await answer.text())
    const link = document.createElement('a')
    link.href = URL.createObjectURL(await answer.blob())
    link.download = `analytics-${query.get('shop') ?? 'all'}.csv`
    link.click()
    setTimeout(() => URL.revokeObjectURL(link.href), 60_000)
  } catch (error) {
    fail(error)
  }
}
