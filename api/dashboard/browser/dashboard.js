// Without this script these buttons stay hidden, and a click on the value selects the whole value.
for (const button of document.querySelectorAll('button[data-copy]')) {
  const value = document.getElementById(button.dataset.copy)
  button.hidden = false
  button.addEventListener('click', async () => {
    const result = (await copyText(value)) ? 'Copied' : 'Selected: copy it with the keyboard'
    button.parentElement.querySelector('[role="status"]').textContent = result
  })
}

/** The clipboard requires TLS or localhost. */
async function copyText(value) {
  try {
    await navigator.clipboard.writeText(value.textContent)
    return true
  } catch {
    getSelection().selectAllChildren(value)
    return document.execCommand('copy')
  }
}

// Ticks the rows of a list; without this script each row is ticked alone.
for (const all of document.querySelectorAll('input[data-choose]')) {
  all.hidden = false
  all.addEventListener('change', () => {
    for (const row of document.querySelectorAll(`input[form="${all.dataset.choose}"]`)) row.checked = all.checked
  })
}

// Replaces what the server observes again. Only a page that is looked at holds a connection, of which browsers have few.
const live = document.querySelector('[data-live]')
if (live) {
  let source
  const follow = () => {
    source?.close()
    if (document.hidden) return
    source = new EventSource(live.dataset.live)
    source.addEventListener('message', ({ data }) => {
      live.innerHTML = JSON.parse(data)
    })
  }
  document.addEventListener('visibilitychange', follow)
  follow()
}
