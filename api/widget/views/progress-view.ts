import type { Step } from '../fitting.ts'
import { element } from '../markup.ts'
import type { Texts } from '../texts.ts'
import { heading } from './photo-view.ts'

type WorkStep = Extract<Step, { name: 'sending' | 'waiting' }>

export interface ProgressView {
  readonly elements: HTMLElement[]
  update(step: WorkStep): void
}

/** Shows the progress. Calls `announce` once with each new sentence. */
export function createProgressView(texts: Texts, announce: (text: string) => void): ProgressView {
  const title = heading('')
  const bar = element('progress', { max: 1 })
  const trouble = element('p', { class: 'warning', hidden: true }, texts.offline)

  return {
    elements: [title, bar, trouble, element('p', { class: 'soft' }, texts.stay)],
    update: (step) => {
      const text = sentenceOf(step, texts)
      if (title.textContent !== text) {
        title.textContent = text
        bar.setAttribute('aria-label', text)
        announce(text)
      }
      // A full bar before the end would look stuck.
      if (step.name === 'sending' && step.part < 1) bar.value = step.part
      else bar.removeAttribute('value')
      const isOffline = step.name === 'waiting' && step.isOffline
      if (isOffline && trouble.hidden) announce(texts.offline)
      trouble.hidden = !isOffline
    },
  }
}

function sentenceOf(step: WorkStep, texts: Texts): string {
  if (step.name === 'sending') return texts.sending
  return step.status === 'PENDING' ? texts.waiting : texts.making
}
