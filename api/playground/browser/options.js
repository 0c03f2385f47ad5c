const READ = {
  boolean: (control) => control.checked,
  number: (control) => (control.value === '' ? undefined : Number(control.value)),
  text: (control) => (control.value === '' ? undefined : control.value),
}

/** Options that differ from the default, by name. Null when a field is invalid: the browser's message is shown then. */
export function readOptions(form) {
  const controls = [...form.querySelectorAll('[data-option]')]
  const wrong = controls.find((control) => !control.checkValidity())
  if (wrong) {
    const details = wrong.closest('details')
    if (details) details.open = true
    wrong.reportValidity()
    return null
  }
  return collect(controls)
}

/** Like `readOptions`, but skips invalid fields. */
export function peekOptions(form) {
  return collect([...form.querySelectorAll('[data-option]')].filter((control) => control.checkValidity()))
}

function collect(controls) {
  const chosen = {}
  for (const control of controls) {
    const value = READ[control.dataset.option](control)
    if (value !== undefined && !isDefault(control)) chosen[control.name] = value
  }
  return chosen
}

/** The page contains the default values. */
function isDefault(control) {
  if (control.type === 'checkbox') return control.checked === control.defaultChecked
  if (control.tagName === 'SELECT') return control.selectedOptions[0].defaultSelected
  return control.value === control.defaultValue
}
