import { writeCurl, writeProgram, writePython } from './request-code.js'

const LANGUAGES = [
  {
    tab: document.querySelector('#tab-curl'),
    write: writeCurl,
    hint: 'For a shell. Enter your key in the first line.',
  },
  {
    tab: document.querySelector('#tab-sdk'),
    write: writeProgram,
    hint: 'For Node, with the client from the repository of the service. The key comes from the environment.',
  },
  {
    tab: document.querySelector('#tab-python'),
    write: writePython,
    hint: 'For Python 3.10 and later, with the package drape-client from the repository of the service. The key comes from the environment.',
  },
  {
    tab: document.querySelector('#tab-json'),
    write: ({ answer }) => (answer === null ? '' : JSON.stringify(answer, null, 2)),
    hint: 'The response of the service to the try-on that is shown. Empty before the first try-on.',
  },
]
const code = document.querySelector('#code')
const panel = document.querySelector('#code-panel')
const copied = document.querySelector('#copied')
const copy = document.querySelector('#copy')

/** Shows the call in the selected language. Returns a function that updates the call. */
export function createCodeView() {
  let language = LANGUAGES[0]
  let call = null
  const show = () => {
    for (const one of LANGUAGES) {
      one.tab.setAttribute('aria-selected', String(one === language))
      one.tab.tabIndex = one === language ? 0 : -1
    }
    panel.setAttribute('aria-labelledby', language.tab.id)
    document.querySelector('#code-hint').textContent = language.hint
    if (call !== null) code.textContent = language.write(call)
  }
  const choose = (chosen) => {
    language = chosen
    show()
  }
  for (const [place, one] of LANGUAGES.entries()) {
    one.tab.addEventListener('click', () => choose(one))
    one.tab.addEventListener('keydown', ({ key }) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[key]
      if (step === undefined) return
      choose(LANGUAGES.at((place + step) % LANGUAGES.length))
      language.tab.focus()
    })
  }
  copy.addEventListener('click', () => copyText(code.textContent))
  return (described) => {
    call = described
    show()
  }
}

async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text)
    announce('Copied')
  } catch {
    // Pages without TLS may not copy; select the code for the keyboard instead.
    getSelection().selectAllChildren(code)
    announce('Selected; copy with the keyboard')
  }
}

function announce(text) {
  copied.textContent = text
  copy.textContent = text
  setTimeout(() => {
    copied.textContent = ''
    copy.textContent = 'Copy'
  }, 2500)
}
