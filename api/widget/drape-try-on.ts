import { createTryOn, type TryOn } from './button.ts'
import { quietly } from './failure.ts'
import { OBSERVED, readSettings } from './settings.ts'
import css from './styles.css'
import { createTextLoader, readLanguage } from './texts.ts'

/** The element `<drape-try-on product="…">`; `script` is the URL of this script, if known. */
export function createDrapeTryOn(script: string | null): CustomElementConstructor {
  const styles = new CSSStyleSheet()
  styles.replaceSync(css)
  const loadTexts = createTextLoader()

  return class DrapeTryOn extends HTMLElement {
    static readonly observedAttributes = OBSERVED
    /** Resolves when the element has rendered; null when it shows nothing. */
    #tryOn: Promise<TryOn | null> = Promise.resolve(null)
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
      void this.#tryOn.then((tryOn) => quietly(() => tryOn?.open()))
    }

    /** Records another event of the page, e.g. `product_page:cart_add`. */
    track(event: string, properties?: Record<string, unknown>): void {
      void this.#tryOn.then((tryOn) => quietly(() => tryOn?.track(event, properties)))
    }

    /** Renders once, however many attributes a page sets in a row, and one rendering after the other. */
    #plan(): void {
      if (this.#isPlanned) return
      this.#isPlanned = true
      this.#tryOn = Promise.all([this.#tryOn, parsed()])
        .then(([previous]) => {
          this.#isPlanned = false
          previous?.stop()
          return this.#render()
        })
        .catch((error) => {
          console.warn('drape-try-on:', error)
          return null
        })
    }

    async #render(): Promise<TryOn | null> {
      const root = this.shadowRoot ?? this.attachShadow({ mode: 'open' })
      root.adoptedStyleSheets = [styles]
      root.replaceChildren()
      const settings = readSettings(this, script)
      if (!this.isConnected || settings.product === '') return null
      if (settings.proxy === null) throw new Error('it needs a proxy of the shop: <drape-try-on proxy="/apps/drape" …>')
      const language = await readLanguage(this, settings.proxy, loadTexts)
      // Another rendering is due already, or the element has left the page.
      if (this.#isPlanned) return null
      const tryOn = createTryOn(this, { settings, language })
      root.append(...tryOn.elements)
      return tryOn
    }
  }
}

/** Texts inside an element may not have been parsed before. */
async function parsed(): Promise<void> {
  if (document.readyState !== 'loading') return
  await new Promise((resolve) => document.addEventListener('DOMContentLoaded', resolve, { once: true }))
}
