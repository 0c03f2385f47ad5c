// Script of the page: a cart that only counts, and its reaction to the widget.

const count = document.querySelector('#count')
const widget = document.querySelector('drape-try-on')

function readCart() {
  return JSON.parse(sessionStorage.getItem('cart') ?? '[]')
}

/** Adds a size of the product of the page. */
function put(size) {
  const things = [...readCart(), { product: location.pathname.split('/').pop(), size }]
  sessionStorage.setItem('cart', JSON.stringify(things))
  count.textContent = String(things.length)
}

count.textContent = String(readCart().length)
document.querySelector('#add')?.addEventListener('click', () => {
  put(document.querySelector('[name=size]:checked').value)
  widget?.track?.('product_page:cart_add')
})
document.addEventListener('drape-add-to-cart', ({ detail }) => {
  detail.waitUntil(Promise.resolve().then(() => put(detail.size)))
})

// The page and the widget show the same size.
document.addEventListener('drape-size', ({ detail }) => {
  for (const radio of document.querySelectorAll('[name=size]')) radio.checked = radio.value === detail.size
})
document.querySelector('.sizes')?.addEventListener('change', ({ target }) => widget?.setAttribute('size', target.value))
