import { createDrapeTryOn } from './drape-try-on.ts'
import { quietly } from './failure.ts'

const NAME = 'drape-try-on'
// `currentScript` is set only during the first run of this script.
const script = document.currentScript instanceof HTMLScriptElement ? document.currentScript.src : null

quietly(() => {
  if (!customElements.get(NAME)) customElements.define(NAME, createDrapeTryOn(script))
})
