import { quietly } from './failure.ts'
import { OBSERVED, readSettings } from './settings.ts'
import css from './styles.css'
import { readLanguage } from './texts.ts'
import { createTryOn, type TryOn } from './try-on.ts'

/** The element `<drape-try-on product="…">`; `script` is the URL of this script, if known. */
export function createDrapeTryOn(script: string | null): CustomElementConstructor {
  const styles = new CSSStyleSheet()
  styles.replaceSync(css)

  return class DrapeTryOn extends HTMLElement {
    static readonly observedAttributes = OBSERVED
    #tryOn: TryOn | undefined
    #isPlanned = false

    connectedCallback(): void {
      this.#plan()
    }

    disconnectedCallback(): void {
      this.#plan()
    }

    attributeChangedCallback(): void {
      this.#plan()
    }

    /** Opens the dialog, like the button. */
    open(): void {
      quietly(() => this.#tryOn?.open())
    }

    /** Records another event of the page, e.g. `product_page:cart_add`. */
    track(event: string, properties?: Record<string, unknown>): void {
      quietly(() => this.#tryOn?.track(event, properties))
    }

    /** Renders once, however many attributes a page sets in a row. */
    #plan(): void {
      if (this.#isPlanned) return
      this.#isPlanned = true
      const render = () => {
        this.#isPlanned = false
        quietly(() => this.#render())
      }
      // Texts inside the element may not have been parsed yet.
      if (document.readyState === 'loading') document.addEventListener('DOMContentLoaded', render, { once: true })
      else queueMicrotask(render)
    }

    #render(): void {
      this.#tryOn?.stop()
      this.#tryOn = undefined
      const root = this.shadowRoot ?? this.attachShadow({ mode: 'open' })
      root.adoptedStyleSheets = [styles]
      root.replaceChildren()
      const settings = readSettings(this, script)
      if (!this.isConnected || settings.product === '') return
      if (settings.proxy === null) throw new Error('it needs a proxy of the shop: <drape-try-on proxy="/apps/drape" …>')
      this.#tryOn = createTryOn(this, { settings, language: readLanguage(this) })
      root.append(...this.#tryOn.elements)
    }
  }
}
