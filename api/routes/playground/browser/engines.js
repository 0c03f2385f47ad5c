/** Offers the engines that the installation has now. Never throws: without an answer the choice stays as it is. */
export async function offerEngines(client, select) {
  const { engines } = await client.engines.list().catch(() => ({ engines: [] }))
  if (engines.length === 0) return
  const chosen = select.value
  const [open] = select.options
  const options = engines.map(({ name, state }) => {
    const text = state === 'unavailable' ? `${name} (unavailable)` : name
    return new Option(text, name, false, name === chosen)
  })
  select.replaceChildren(open, ...options)
  if (select.value !== chosen) select.dispatchEvent(new Event('input', { bubbles: true }))
}
