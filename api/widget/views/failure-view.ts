import { type Failure, remedyFor } from '../failure.ts'
import { button, element, icon } from '../markup.ts'
import { explain, type Texts } from '../texts.ts'
import { filePicker, heading, type PhotoActions, systemCamera } from './photo-view.ts'

/** Shows a failure and a remedy; resumes by itself when a lost connection returns. */
export function presentFailure(
  failure: Failure,
  { texts, actions, close, language }: { texts: Texts; actions: PhotoActions; close: () => void; language: string },
): HTMLElement[] {
  const retry = (onClick: () => void, looks = 'primary') => button(texts.retry, onClick, { looks })
  const another = (looks: string) => button(texts.another, actions.restart, { looks })
  const ways: HTMLElement[] = {
    again: () => [retry(actions.start), another('secondary')],
    photo: () => [another('primary')],
    consent: () => [retry(actions.review)],
    camera: () => [
      ...filePicker(texts, actions),
      ...systemCamera(texts, actions),
      retry(actions.openCamera, 'secondary'),
    ],
    none: () => [button(texts.close, close, { looks: 'primary' })],
  }[remedyFor(failure)]()
  const appealLink = (url: string) =>
    element(
      'p',
      { class: 'small' },
      element(
        'a',
        { href: `${url}?lang=${language}`, target: '_blank', rel: 'noopener', part: 'appeal' },
        texts.appeal,
      ),
    )
  ways[0].dataset.focus = ''
  return [
    heading(texts.errorHeading),
    element('p', { class: 'warning', part: 'error' }, icon('warning'), element('span', {}, explain(failure, texts))),
    element('div', { class: 'stack' }, ...ways),
    ...(failure.appealUrl === null ? [] : [appealLink(failure.appealUrl)]),
  ]
}
