import { button, element, icon } from '../markup.ts'
import type { Step } from '../steps.ts'
import type { Texts } from '../texts.ts'
import { heading } from './photo-view.ts'

type WorkStep = Extract<Step, { name: 'sending' | 'waiting' }>

export interface ProgressView {
  readonly elements: HTMLElement[]
  update(step: WorkStep): void
}

export interface ProgressOptions {
  readonly texts: Texts
  readonly announce: (text: string) => void
  readonly cancel: () => void
}

/** Shows which stages are done, which one runs and which follow. Calls `announce` once with each new stage. */
export function createProgressView({ texts, announce, cancel }: ProgressOptions): ProgressView {
  const names = [texts.sending, texts.waiting, texts.making]
  const bar = element('progress', { max: 1 })
  const stages = names.map((name) =>
    element('li', {}, element('span', { class: 'mark' }, icon('check')), element('span', {}, name)),
  )
  const trouble = element('p', { class: 'warning', hidden: true }, texts.offline)
  let shown: string | null = null

  return {
    elements: [
      heading(texts.workHeading),
      element('ol', { class: 'stages' }, ...stages),
      bar,
      trouble,
      element('p', { class: 'soft' }, texts.stay),
      button(texts.cancel, cancel, { looks: 'plain' }),
    ],
    update: (step) => {
      const current = stageOf(step)
      const name = names[current]
      // Not of `entries()`, which Prototype.js replaces.
      stages.forEach((stage, i) => {
        stage.dataset.state = i < current ? 'done' : i === current ? 'running' : 'next'
        if (i === current) stage.setAttribute('aria-current', 'step')
        else stage.removeAttribute('aria-current')
      })
      if (shown !== name) {
        bar.setAttribute('aria-label', name)
        announce(name)
      }
      shown = name
      // A full bar before the end would look stuck.
      if (step.name === 'sending' && step.part < 1) bar.value = step.part
      else bar.removeAttribute('value')
      const isOffline = step.name === 'waiting' && step.isOffline
      if (isOffline && trouble.hidden) announce(texts.offline)
      trouble.hidden = !isOffline
    },
  }
}

function stageOf(step: WorkStep): number {
  if (step.name === 'sending') return 0
  return step.status === 'PENDING' ? 1 : 2
}
