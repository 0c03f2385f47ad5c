type Attribute = string | number | boolean | null | ((event: Event) => void)
type Child = Node | string | null

/**
 * Creates an element. Functions become listeners, `true` an empty attribute, `false` and null none. Never parses text
 * as markup.
 */
export function element<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Readonly<Record<string, Attribute>> = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag)
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === 'function') made.addEventListener(name, value)
    else if (value !== false && value !== null) made.setAttribute(name, value === true ? '' : String(value))
  }
  made.append(...children.filter((child) => child !== null))
  return made
}

const PATHS = {
  check: 'M5 12.500 10 17.500 19 7',
  hanger: 'M12 8.5V7.2a2.1 2.1 0 1 0-2.1-2.1M12 8.5 2.9 15a1.4 1.4 0 0 0 .8 2.5h16.6a1.4 1.4 0 0 0 .8-2.5z',
  close: 'M6 6l12 12M18 6 6 18',
  person:
    'M12 10.2a3.6 3.6 0 1 0 0-7.2 3.6 3.6 0 0 0 0 7.2zM3.500 24v-3.500c0-4.200 3.800-7.300 8.500-7.300s8.500 3.100 8.500 7.300V24',
  photo: 'M4 7.5h3.2L8.8 5h6.4l1.6 2.5H20v11H4zM12 16.2a3.4 3.4 0 1 0 0-6.8 3.4 3.4 0 0 0 0 6.8z',
  upload: 'M12 15.5V4.5M7.5 8.5 12 4l4.500 4.500M4.500 15.500v4h15v-4',
  share: 'M12 14.500V3.500M8 7l4-4 4 4M6 11H4.500v9.500h15V11H18',
  download: 'M12 3.500v11M7.500 10.500 12 15l4.500-4.500M4.500 19.500h15',
  zoom: 'M11 18a7 7 0 1 0 0-14 7 7 0 0 0 0 14zM16 16l5 5M8 11h6M11 8v6',
  warning: 'M12 8.500v5M12 16.600v.1M12 3.500 2.500 20h19z',
} as const

/** A decorative icon: the text next to it has the same meaning. */
export function icon(name: keyof typeof PATHS): SVGSVGElement {
  const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg')
  for (const [key, value] of Object.entries({ viewBox: '0 0 24 24', 'aria-hidden': 'true', class: 'icon' }))
    svg.setAttribute(key, value)
  const path = document.createElementNS(svg.namespaceURI, 'path')
  path.setAttribute('d', PATHS[name])
  svg.append(path)
  return svg
}

/** A button with text. `looks` is its class and its part. */
export function button(
  text: string,
  onClick: () => void,
  { looks, symbol = null }: { looks: string; symbol?: SVGSVGElement | null },
): HTMLButtonElement {
  return element('button', { type: 'button', class: looks, part: looks, click: onClick }, symbol, text)
}
