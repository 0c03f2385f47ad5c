import { createDrapeClient, DrapeApiError } from './client/index.ts'
import { offerEngines } from './engines.js'
import { createKeyHolder } from './key-holder.js'
import { showProblem } from './problem-view.js'
import { explain } from './problems.js'

const find = (id) => document.getElementById(id)

/** Asks for the key and shows its account. `client()` is null without a key. `onPrices`: prices may have changed. */
export function createAccount({ onUse, onForget, onPrices }) {
  const holder = createKeyHolder()
  let drape = null
  let used = null
  let engines = []

  const listEngines = async () => {
    if (drape === null) return
    const listed = await offerEngines(drape, find('option-engine'))
    if (listed.length > 0) engines = listed
    onPrices()
  }
  const use = async (key, { keep }) => {
    const problem = find('key-problem')
    problem.hidden = true
    const wrong = refuseKey(key)
    if (wrong !== null) return showProblem(problem, wrong)
    // Few retries: the user sees an error soon and can retry manually.
    const client = createDrapeClient({ url: location.origin, apiKey: key, retries: 2 })
    busy(find('key-form'), true)
    try {
      const account = await client.account.get()
      showAccount(account)
      holder.set(key, { keep })
      drape = client
      used = account
      onUse(account)
      listEngines()
      find('key').value = ''
      find('key-form').hidden = true
      find('content').focus()
    } catch (error) {
      if (error instanceof DrapeApiError && error.code === 'INVALID_API_KEY') holder.forget()
      showProblem(problem, explain(error))
    } finally {
      busy(find('key-form'), false)
    }
  }
  const forget = () => {
    onForget()
    holder.forget()
    drape = null
    onPrices()
    find('account').hidden = true
    find('key-form').hidden = false
    find('keep-key').checked = false
    find('key').focus()
  }

  const useTyped = () => use(find('key').value.trim(), { keep: find('keep-key').checked })

  find('key-form').addEventListener('submit', (event) => {
    event.preventDefault()
    useTyped()
  })
  // The states of engines may have changed since the last list.
  find('options').addEventListener('toggle', listEngines)
  find('forget').addEventListener('click', forget)
  if (holder.get() !== null) {
    find('keep-key').checked = true
    use(holder.get(), { keep: true })
  }
  return {
    client: () => drape,
    /** Credits of a call; null while they are not known. */
    priceOf: ({ engine = '', count = 1, products }) => {
      const { credits } = engines.find(({ name, isDefault }) => (engine === '' ? isDefault : name === engine)) ?? {}
      if (drape === null || credits === undefined) return null
      if (used.mode === 'test') return 0
      return credits * (products === 1 ? count : used.outfitPricing === 'layer' ? products : 1)
    },
    /** Uses a key that was typed but not submitted. Never throws: problems are shown next to the field. */
    takeTyped: async () => {
      if (drape === null && find('key').value.trim() !== '') await useTyped()
    },
    /** Shows the current balance and engines. */
    refresh: async () => {
      const asked = drape
      if (asked === null) return
      listEngines()
      try {
        const credits = await asked.account.credits()
        if (asked === drape) showAccount(credits)
      } catch {
        // Keep the last balance; the next action reports the error.
      }
    },
  }
}

function refuseKey(key) {
  if (key === '') return { title: 'The API key is missing', advice: 'Type or paste your API key.' }
  // Headers and keys contain only these characters.
  if (/^[\x21-\x7e]+$/.test(key)) return null
  const advice = 'A key contains only letters, digits and _. Copy it again.'
  return { title: 'This is not an API key', advice, code: 'INVALID_API_KEY' }
}

function showAccount({ name, creditBalance }) {
  find('account').hidden = false
  if (name !== undefined) find('account-name').textContent = name
  find('credits').textContent = describeCredits(creditBalance)
  find('credits').classList.toggle('none', creditBalance === 0)
}

export function describeCredits(credits) {
  return credits === 1 ? '1 credit' : `${credits.toLocaleString('en')} credits`
}

function busy(form, is) {
  for (const control of form.elements) control.disabled = is
}
