import { createDrapeClient, DrapeApiError } from './client/index.ts'
import { offerEngines } from './engines.js'
import { createKeyHolder } from './key-holder.js'
import { showProblem } from './problem-view.js'
import { explain } from './problems.js'

const find = (id) => document.getElementById(id)

/** Asks for the key and shows its account. `client()` is null without a key. */
export function createAccount({ onUse, onForget }) {
  const holder = createKeyHolder()
  let drape = null

  const listEngines = () => drape && offerEngines(drape, find('option-engine'))
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
  find('credits').textContent = creditBalance === 1 ? '1 credit' : `${creditBalance.toLocaleString('en')} credits`
  find('credits').classList.toggle('none', creditBalance === 0)
}

function busy(form, is) {
  for (const control of form.elements) control.disabled = is
}
