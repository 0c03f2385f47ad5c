/** Shows a problem as returned by `explain`. */
export function showProblem(place, { title, advice, serviceMessage, fields = [], code, requestId }) {
  const names = [code, requestId].filter(Boolean).join(' · ')
  place.replaceChildren(
    element('strong', { text: title }),
    element('span', { text: advice }),
    ...(serviceMessage ? [element('q', { text: serviceMessage })] : []),
    ...fields.map(({ path, message }) => element('span', { text: `${path}: ${message}` })),
    ...(names === '' ? [] : [element('code', { text: names })]),
  )
  place.hidden = false
}

export function element(name, { text }) {
  const made = document.createElement(name)
  made.textContent = text
  return made
}
