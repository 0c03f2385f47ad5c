import { createDrapeTryOn } from './drape-try-on.ts'
import { quietly } from './failure.ts'

const NAME = 'drape-try-on'
// Only while this script runs for the first time does the page say which script element it is.
const script = document.currentScript instanceof HTMLScriptElement ? document.currentScript.src : null

quietly(() => {
  if (!customElements.get(NAME)) customElements.define(NAME, createDrapeTryOn(script))
})
