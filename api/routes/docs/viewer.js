const answer = await fetch('/tryon/v1/openapi.json')
const description = await answer.json()

window.SwaggerUIBundle({
  domNode: document.getElementById('viewer'),
  // Requests go to where the page came from: the one address that is known to work from here.
  spec: { ...description, servers: [{ url: '/' }] },
  deepLinking: true,
  defaultModelsExpandDepth: 0,
  displayRequestDuration: true,
  filter: true,
  tryItOutEnabled: true,
  // Nothing is sent to anybody for validation.
  validatorUrl: null,
})
