import { type Html, html } from '../http/answers/html.ts'
import { CATEGORIES } from '../shared/generations/generation.ts'
import { presentOptions } from './option-fields.ts'
import { SAMPLES } from './samples.ts'

interface PageOptions {
  readonly serviceName: string
  /** URL of the folder of its files. */
  readonly assets: string
  /** Whether the service has outfits. */
  readonly hasOutfits: boolean
}

/** The playground, for holders of an API key. */
export function presentPage({ serviceName, assets, hasOutfits }: PageOptions): string {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>${serviceName} playground</title>
<link rel="icon" href="${assets}/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="${assets}/playground.css">
<link rel="modulepreload" href="${assets}/client/index.ts">
<script src="${assets}/playground.js" type="module"></script>
</head>
<body>
<a class="skip" href="#content">Skip to content</a>
<header>
<p class="brand"><img src="${assets}/icon.svg" alt="" width="28" height="28">${serviceName} <span>playground</span></p>
<nav aria-label="More"><a href="/guide">Guide</a> <a href="/docs">API reference</a></nav>
<div class="account" id="account" hidden><span id="account-name"></span><strong id="credits"></strong>
<button type="button" class="quiet" id="forget">Remove key</button></div>
</header>
<main id="content" tabindex="-1">
<h1>Try a product on a person</h1>
<p class="lead">Choose a photo and a product. The code below sends the same request from your own program.</p>
<noscript><p class="problem">This page needs JavaScript. The <a href="/docs">API reference</a> works without JavaScript.</p></noscript>
${keyForm()}
<form id="try-on" novalidate>
<div class="image-fields">
${imageField({ name: 'photo', step: '1', title: 'Photo', invitation: 'Drop a photo of a person here', assets, more: photoFields() })}
${imageField({ name: 'product', step: '2', title: 'Product', invitation: 'Drop an image of a product here', assets, more: productFields('product') })}
${resultPanel()}
</div>
${hasOutfits ? secondProduct(assets) : ''}
<details class="card" id="options"><summary>Engine and options</summary>
<div class="options">${presentOptions({ of: 'try-on' })}</div></details>
</form>
${historyPanel()}
${codePanel()}
</main>
${cameraDialog()}
</body>
</html>
`.markup
}

/** The input has no name, so that no form can submit the key. */
function keyForm(): Html {
  return html`<form id="key-form" class="card key" novalidate>
<div class="field"><label for="key">Your API key</label>
<input id="key" type="password" autocomplete="off" autocapitalize="off" spellcheck="false" placeholder="sk_…" required aria-describedby="key-hint key-problem"></div>
<div class="check"><input type="checkbox" id="keep-key"><label for="keep-key">Keep the key until this tab is closed</label></div>
<button>Use key</button>
<p class="hint" id="key-hint">The page sends the key only to this service and never puts it into a URL. Without the checkbox, reloading the page removes the key.</p>
<p class="problem" id="key-problem" role="alert" hidden></p>
</form>`
}

interface ImageField {
  readonly name: 'photo' | 'product' | 'second'
  readonly step: string
  readonly title: string
  readonly invitation: string
  readonly assets: string
  readonly more?: Html
}

function imageField({ name, step, title, invitation, assets, more = html`` }: ImageField): Html {
  const samples = SAMPLES.filter(({ kind }) => (kind === 'photo') === (name === 'photo')).map(
    ({
      file,
      text,
      title = '',
    }) => html`<li><button type="button" class="sample" aria-pressed="false" data-file="${file}" data-title="${title}" data-url="${assets}/samples/${file}">
<img src="${assets}/samples/${file}" alt="${text}" loading="lazy" decoding="async"></button></li>
`,
  )
  return html`<section class="card image-field" data-image-field="${name}" aria-labelledby="${name}-title">
<h2 id="${name}-title"><span class="step" aria-hidden="true">${step}</span>${title}</h2>
<div class="drop">
<input type="file" id="${name}-file" class="unseen" aria-label="${invitation.replace('Drop', 'Choose').replace(' here', '')}" accept="image/jpeg,image/png,image/webp,image/heic,image/heif,.heic,.heif" aria-describedby="${name}-chosen">
<label for="${name}-file"><img class="preview" alt="" hidden>
<span class="invitation"><strong>${invitation}</strong><span>or choose or paste a file.<br>JPEG, PNG, WebP or HEIC, up to 10 MB</span></span></label>
</div>
<p class="chosen" id="${name}-chosen" role="status"></p>
<div class="actions"><button type="button" class="quiet" data-camera hidden>Use the camera</button>
<button type="button" class="quiet" data-remove hidden>Remove image</button></div>
<p class="problem" role="alert" hidden></p>
<h3>Or use a sample</h3>
<ul class="samples">${samples}</ul>
${more}
</section>`
}

function photoFields(): Html {
  return html`<div class="fields">${presentOptions({ of: 'upload' })}</div>`
}

/** The generated outfit has both products. */
function secondProduct(assets: string): Html {
  return html`<details class="card" id="with-second"><summary>Try it with another product</summary>
<div class="second">${imageField({ name: 'second', step: '+', title: 'Second product', invitation: 'Drop an image of a second product here', assets, more: productFields('second') })}
<p class="hint">One image with both products, such as trousers and a T-shirt. An open shirt or cardigan over a top has the category outerwear.</p></div></details>`
}

function productFields(name: string): Html {
  const categories = CATEGORIES.map((category) => html`<option>${category}</option>`)
  return html`<div class="fields"><div class="field"><label for="${name}-name">Product name</label>
<input id="${name}-name" type="text" maxlength="200" autocomplete="off" placeholder="optional, for example T-shirt"></div>
<div class="field"><label for="${name}-category">Category</label>
<select id="${name}-category"><option value="">detect from the image</option>${categories}</select></div></div>`
}

function resultPanel(): Html {
  return html`<section class="card result" aria-labelledby="result-title">
<h2 id="result-title"><span class="step" aria-hidden="true">3</span>Result</h2>
<div class="stage" id="stage"><img class="behind" id="behind" alt="" hidden>
<p class="invitation" id="waiting"><strong>The result appears here</strong></p>
<figure class="comparison" id="comparison" hidden>
<div class="frame"><img class="before" alt="Photo before the try-on"><img class="after" alt="The result">
<span class="tag left" aria-hidden="true">before</span><span class="tag right" aria-hidden="true">after</span>
<input type="range" min="0" max="100" value="50" step="1" aria-label="Comparison of photo and result"></div>
</figure>
</div>
<progress id="progress" max="1" aria-label="Progress of the generation" hidden></progress>
<div class="progress-line"><p class="said" id="said" role="status"></p><span id="elapsed" aria-hidden="true" hidden></span></div>
<div class="problem" id="problem" role="alert" tabindex="-1" hidden></div>
<div class="actions"><button id="go">Try it on</button>
<button type="button" id="look-again" hidden>Check again</button>
<button type="button" class="quiet" id="cancel" hidden>Cancel</button>
<a class="button quiet" id="download" target="_blank" rel="noreferrer" hidden>Download</a></div>
<p class="hint" id="price"></p>
<dl class="facts" id="facts" hidden></dl>
</section>`
}

/** Results of the tab: closing it or removing the key discards them. */
function historyPanel(): Html {
  return html`<section class="card history" id="history" aria-labelledby="history-title" hidden>
<h2 id="history-title">Results in this tab</h2><ul></ul></section>`
}

function codePanel(): Html {
  return html`<section class="card code" aria-labelledby="code-title">
<div class="code-head"><h2 id="code-title">Use this request in your code</h2>
<div role="tablist" aria-label="Language">
<button type="button" role="tab" id="tab-curl" aria-controls="code-panel" aria-selected="true">curl</button>
<button type="button" role="tab" id="tab-sdk" aria-controls="code-panel" aria-selected="false" tabindex="-1">TypeScript</button>
<button type="button" role="tab" id="tab-python" aria-controls="code-panel" aria-selected="false" tabindex="-1">Python</button>
<button type="button" role="tab" id="tab-json" aria-controls="code-panel" aria-selected="false" tabindex="-1">JSON</button></div>
<button type="button" class="quiet" id="copy">Copy</button><span class="unseen" role="status" id="copied"></span></div>
<pre role="tabpanel" id="code-panel" aria-labelledby="tab-curl" tabindex="0"><code id="code"></code></pre>
<p class="hint" id="code-hint"></p>
</section>`
}

function cameraDialog(): Html {
  return html`<dialog id="camera" aria-labelledby="camera-title"><h2 id="camera-title">Camera</h2>
<video playsinline muted aria-label="Camera preview"></video>
<p class="problem" role="alert" hidden></p>
<div class="actions"><button type="button" data-shoot>Take photo</button>
<button type="button" class="quiet" data-close>Close</button></div></dialog>`
}
