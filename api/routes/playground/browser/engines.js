/** An engine with the reason why it cannot serve now, or the wait that is to be expected. */
function describeEngine({ name, state, expectedWaitSeconds }) {
  if (state === 'unavailable') return `${name} (unavailable: no worker can run it)`
  return expectedWaitSeconds ? `${name} (starts in about ${expectedWaitSeconds} s)` : name
}

/** Offers the engines that the installation has now. Never throws: without an answer the choice stays as it is. */
export async function offerEngines(client, select) {
  const { engines } = await client.engines.list().catch(() => ({ engines: [] }))
  if (engines.length === 0) return
  const chosen = select.value
  const [open] = select.options
  const options = engines.map((engine) => {
    const option = new Option(describeEngine(engine), engine.name, false, engine.name === chosen)
    option.disabled = engine.state === 'unavailable'
    return option
  })
  select.replaceChildren(open, ...options)
  if (select.value !== chosen) select.dispatchEvent(new Event('input', { bubbles: true }))
}
