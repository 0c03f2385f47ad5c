/**
 * Keeps keys that are pressed while the dialog is open from the scripts of the page, whose shortcuts would open a search or close
 * a drawer behind it. Browsers still handle the keys. Returns a function that stops it.
 */
export function keepKeys(dialog: HTMLDialogElement): () => void {
  // Escape closes the dialog before it is released.
  const pressed = new Set<string>()
  const keep = (event: KeyboardEvent) => {
    const wasKept = pressed.delete(event.code)
    const isKept = event.type === 'keyup' ? wasKept : dialog.open && isOf(dialog, event)
    if (isKept && event.type !== 'keyup') pressed.add(event.code)
    if (isKept) event.stopImmediatePropagation()
  }
  const types = ['keydown', 'keypress', 'keyup'] as const
  // First in the path of an event, so that scripts that listen in the capture phase do not get it either.
  for (const type of types) addEventListener(type, keep, true)
  return () => {
    for (const type of types) removeEventListener(type, keep, true)
  }
}

/** A click on a picture in the dialog moves the focus to the body. */
function isOf(dialog: HTMLDialogElement, event: Event): boolean {
  return event.composedPath().includes(dialog) || event.target === document.body
}
