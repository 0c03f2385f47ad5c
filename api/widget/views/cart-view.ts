import { button, element } from '../markup.ts'
import type { Size } from '../settings.ts'
import { fill, type Texts } from '../texts.ts'

export interface CartActions {
  /** Returns false when the shop did not add the product. */
  readonly addToCart: (size: Size | null) => Promise<boolean>
  /** The size that the page or the shopper has chosen. */
  readonly chosenSize: () => Size | null
  readonly chooseSize: (size: Size) => void
}

export interface CartOptions {
  readonly texts: Texts
  readonly sizes: readonly Size[]
  readonly actions: CartActions
  readonly announce: (text: string) => void
}

/** Puts the product into the cart, in the size that the shopper picks where there are several. */
export function presentCart(options: CartOptions): HTMLElement {
  const { texts, sizes, actions, announce } = options
  const said = element('p', { class: 'small' })
  const add = button(texts.cart, () => void put(), { looks: 'primary' })
  const say = (text: string) => {
    said.textContent = text
    announce(text)
  }
  const picker = presentSizes(options, () => {
    said.textContent = ''
  })
  const put = async () => {
    const size = actions.chosenSize()
    if (sizes.length > 0 && size === null) {
      say(texts.sizeMissing)
      return picker.querySelector<HTMLInputElement>('input:enabled')?.focus()
    }
    add.disabled = true
    const isAdded = await actions.addToCart(size)
    add.disabled = false
    say(isAdded ? texts.cartAdded : texts.cartFailed)
  }
  add.disabled = sizes.length > 0 && sizes.every(({ isSoldOut }) => isSoldOut)
  return element('div', { class: 'stack' }, sizes.length > 0 ? picker : null, add, said)
}

function presentSizes({ texts, sizes, actions }: CartOptions, onChange: () => void): HTMLElement {
  const chosen = actions.chosenSize()
  const choices = sizes.map((size) => {
    const { title, isSoldOut } = size
    const change = () => {
      actions.chooseSize(size)
      onChange()
    }
    const label = isSoldOut ? fill(texts.soldOut, { size: title }) : null
    const radio = element('input', {
      type: 'radio',
      name: 'size',
      'aria-label': label,
      disabled: isSoldOut,
      checked: size === chosen,
      change,
    })
    return element('label', { class: 'size' }, radio, element('span', {}, title))
  })
  return element(
    'fieldset',
    { class: 'sizes', part: 'sizes' },
    element('legend', {}, texts.size),
    element('div', {}, ...choices),
  )
}
