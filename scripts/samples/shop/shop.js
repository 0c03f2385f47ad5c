// Script of the page: a cart that only counts, and its reaction to the widget.

const count = document.querySelector('#count')

function put() {
  const things = Number(sessionStorage.getItem('cart') ?? 0) + 1
  sessionStorage.setItem('cart', String(things))
  count.textContent = String(things)
}

count.textContent = sessionStorage.getItem('cart') ?? '0'
document.querySelector('#add')?.addEventListener('click', () => {
  put()
  document.querySelector('drape-try-on')?.track?.('product_page:cart_add')
})
document.addEventListener('drape-add-to-cart', ({ detail }) => detail.waitUntil(Promise.resolve().then(put)))
