import { type Failure, remedyFor } from '../failure.ts'
import { button, element, icon } from '../markup.ts'
import { explain, type Texts } from '../texts.ts'
import { heading, type PhotoActions } from './photo-view.ts'

/** Shows a failure and a remedy; resumes by itself when a lost connection returns. */
export function presentFailure(
  failure: Failure,
  { texts, actions, close }: { texts: Texts; actions: PhotoActions; close: () => void },
): HTMLElement[] {
  const remedy = remedyFor(failure)
  const retry = () => button(texts.retry, actions.start, { looks: 'primary' })
  const another = (looks: string) => button(texts.another, actions.restart, { looks })
  const buttons = {
    again: () => [retry(), another('secondary')],
    photo: () => [another('primary')],
    consent: () => [button(texts.retry, actions.review, { looks: 'primary' })],
    none: () => [button(texts.close, close, { looks: 'primary' })],
  }[remedy]()
  buttons[0].dataset.focus = ''
  return [
    heading(texts.errorHeading),
    element('p', { class: 'warning', part: 'error' }, icon('warning'), element('span', {}, explain(failure, texts))),
    element('div', { class: 'stack' }, ...buttons),
  ]
}
