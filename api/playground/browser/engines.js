/** Name of an engine, with the reason why it cannot serve now or its expected wait. */
function describeEngine({ name, state, expectedWaitSeconds }) {
  if (state === 'unavailable') return `${name} (unavailable: no worker can run it)`
  return expectedWaitSeconds ? `${name} (starts in about ${expectedWaitSeconds} s)` : name
}

/**
 * Lists the engines of the installation, and deselects an engine that cannot serve now. Returns the engines. Never throws: on
 * failure the list stays unchanged, and none are returned.
 */
export async function offerEngines(client, select) {
  const { engines } = await client.engines.list().catch(() => ({ engines: [] }))
  if (engines.length === 0) return engines
  const chosen = select.value
  const [open] = select.options
  const options = engines.map((engine) => {
    const option = new Option(describeEngine(engine), engine.name)
    option.disabled = engine.state === 'unavailable'
    return option
  })
  select.replaceChildren(open, ...options)
  select.value = options.some(({ value, disabled }) => value === chosen && !disabled) ? chosen : ''
  if (select.value !== chosen) select.dispatchEvent(new Event('input', { bubbles: true }))
  return engines
}
