// Adds the variant of the page to the shop's cart when the shopper asks for it in the widget, and stores the browser's
// ID in the cart, so that the order can be attributed to the try-on. While the shop has a holdout, every cart has the
// ID: orders with and without the button are compared.
{
  let isNamed = false
  const post = async ({ dataset }, path, body) => {
    const root = dataset.cartRoot || '/'
    const headers = { 'content-type': 'application/json', accept: 'application/json' }
    const answer = await fetch(root.replace(/\/?$/, '/') + path, {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
    })
    if (!answer.ok) throw new Error(`${path}: ${answer.status}`)
  }
  const nameBrowser = (target, { attributes }) => post(target, 'cart/update.js', { attributes })

  document.addEventListener('drape-add-to-cart', ({ target, detail }) => {
    const id = Number(String(detail.variant).split('/').pop())
    detail.waitUntil(
      post(target, 'cart/add.js', { items: [{ id, quantity: 1 }] }).then(() => nameBrowser(target, detail)),
    )
  })
  document.addEventListener('drape-holdout', ({ target, detail }) => {
    if (isNamed) return
    isNamed = true
    nameBrowser(target, detail).catch((error) => console.warn('drape-try-on:', error))
  })
}

// A theme writes the chosen variant into the URL; the widget restarts with it.
globalThis.navigation?.addEventListener('currententrychange', () => {
  const variant = new URLSearchParams(location.search).get('variant')
  if (!/^\d+$/.test(variant ?? '')) return
  for (const widget of document.querySelectorAll('drape-try-on')) {
    // A size that was picked in the widget before is no longer the choice.
    widget.removeAttribute('size')
    widget.setAttribute('variant', `gid://shopify/ProductVariant/${variant}`)
  }
})
