/* Drape, Apache-2.0. Written by scripts/widget build from api/widget/; changes by hand are lost. */
(function(){var e=class extends Error{code;status;retrySeconds;appealUrl;period;constructor(e,{status:t=0,retrySeconds:n=null,period:r=null,appealUrl:i=null}={}){super(e),this.code=e,this.status=t,this.retrySeconds=n,this.period=r,this.appealUrl=i}};function t(t){return t instanceof e?t:new e(`UNEXPECTED`)}let n=[`NO_PERSON_DETECTED`,`INVALID_IMAGE`,`IMAGE_TOO_SMALL`,`UNSUPPORTED_IMAGE_TYPE`,`FILE_TOO_LARGE`,`IMAGE_NOT_FOUND`,`CUSTOMER_IMAGE_REQUIRED`,`VALIDATION_FAILED`,`NUDITY_DETECTED`,`EXPOSURE_NOT_ALLOWED`,`SEVERAL_PEOPLE`,`AGE_REVIEW`,`IMAGE_LISTED`],r=[`QUOTA_EXCEEDED`,`BILLING_NOT_ALLOWED`,`PRODUCT_NOT_FOUND`,`PRODUCT_IMAGE_FETCH_FAILED`,`MISSING_REQUIRED_CLASSIFICATION`,`PROXY_SIGNATURE_INVALID`];function i(e){return e.code.startsWith(`CONSENT_`)?`consent`:e.code.startsWith(`CAMERA_`)?`camera`:n.includes(e.code)?`photo`:r.includes(e.code)||e.period!==null?`none`:`again`}function a(e){try{return e()}catch(e){console.warn(`drape-try-on:`,e);return}}let o=[`product`,`variant`,`product-title`,`product-image`,`proxy`,`service`,`publishable-key`,`only-proxy`,`privacy-url`,`email`,`cart`,`sizes`,`analytics`,`label`,`lang`];function s(e,t){let n=t===null?null:new URL(`.`,t),r=n?.origin===location.origin,i=t=>{let n=e.getAttribute(t);return n===null?null:u(new URL(n,document.baseURI).href)};return{product:l(`Product`,e.getAttribute(`product`)??``),variant:e.hasAttribute(`variant`)?l(`ProductVariant`,e.getAttribute(`variant`)??``):null,title:e.getAttribute(`product-title`)?.trim()??``,image:e.getAttribute(`product-image`),proxy:i(`proxy`)??(n&&r?u(n.href):null),service:i(`service`)??(n&&!r?u(n.href):null),publishableKey:e.getAttribute(`publishable-key`),onlyProxy:e.hasAttribute(`only-proxy`),privacyUrl:i(`privacy-url`),sizes:c(e.getAttribute(`sizes`)),hasEmail:e.getAttribute(`email`)!==`off`,hasCart:e.hasAttribute(`cart`),hasAnalytics:e.getAttribute(`analytics`)!==`off`}}function c(e){if(e===null)return[];try{return JSON.parse(e).map(({id:e,title:t,available:n})=>({variant:l(`ProductVariant`,String(e)),title:String(t),isSoldOut:n===!1}))}catch{return console.warn(`drape-try-on: the attribute "sizes" is not a JSON list`),[]}}function l(e,t){return t.startsWith(`gid://`)||t===``?t:`gid://shop/${e}/${t}`}function u(e){return e.replace(/\/+$/,``)}var d=`:host {
  --accent: var(--drape-accent, light-dark(#1d1b19, #f4f1ed));
  --on-accent: var(--drape-on-accent, light-dark(#ffffff, #1d1b19));
  --paper: var(--drape-paper, light-dark(#ffffff, #1c1a18));
  --stage: var(--drape-stage, light-dark(#f4f1ed, #262321));
  --ink: var(--drape-ink, light-dark(#1d1b19, #f4f1ed));
  --soft: var(--drape-soft, light-dark(#5f5953, #b8b1aa));
  --edge: var(--drape-edge, light-dark(#857d75, #857d75));
  --warning: var(--drape-warning, light-dark(#a3331c, #ff9d87));
  --radius: var(--drape-radius, 14px);
  display: block;
  min-block-size: 48px;
  font-family: var(--drape-font, inherit);
}
@supports not (color: light-dark(#000, #fff)) {
  :host {
    --accent: var(--drape-accent, #1d1b19);
    --on-accent: var(--drape-on-accent, #ffffff);
    --paper: var(--drape-paper, #ffffff);
    --stage: var(--drape-stage, #f4f1ed);
    --ink: var(--drape-ink, #1d1b19);
    --soft: var(--drape-soft, #5f5953);
    --edge: var(--drape-edge, #857d75);
    --warning: var(--drape-warning, #a3331c);
  }
}
:host([hidden]) {
  display: none;
}
* {
  box-sizing: border-box;
}
h2,
h3,
p {
  margin: 0;
}
button,
input {
  font: inherit;
  letter-spacing: inherit;
}
.icon {
  flex: none;
  inline-size: 1.25em;
  block-size: 1.25em;
  fill: none;
  stroke: currentColor;
  stroke-width: 1.6;
  stroke-linecap: round;
  stroke-linejoin: round;
}
.unseen {
  position: absolute;
  inline-size: 1px;
  block-size: 1px;
  overflow: hidden;
  clip-path: inset(50%);
  white-space: nowrap;
}
:focus-visible {
  outline: 3px solid var(--accent);
  outline-offset: 3px;
}
h2:focus-visible,
h3:focus-visible {
  outline: none;
}

.button,
.primary,
.secondary,
.plain {
  display: inline-flex;
  align-items: center;
  justify-content: center;
  gap: 0.55em;
  min-block-size: 48px;
  padding: 0.65em 1.25em;
  border: 1.5px solid transparent;
  border-radius: var(--radius);
  background: none;
  color: var(--ink);
  font-weight: 600;
  line-height: 1.2;
  text-align: center;
  cursor: pointer;
}
:disabled {
  opacity: 0.5;
  cursor: default;
}
.button {
  inline-size: 100%;
  font-size: max(1rem, 16px);
  border-color: var(--accent);
  color: var(--ink);
}
.button:hover,
.secondary:hover {
  background: var(--stage);
}
.button[data-waiting] {
  visibility: hidden;
}
.primary {
  background: var(--accent);
  color: var(--on-accent);
}
.primary:hover {
  opacity: 0.88;
}
.secondary {
  border-color: var(--edge);
}
.plain {
  padding-inline: 0.5em;
  font-weight: 500;
  text-decoration: underline;
  text-underline-offset: 0.25em;
}

dialog {
  inline-size: min(880px, 100vw - 32px);
  max-block-size: min(760px, 100dvh - 32px);
  margin: auto;
  padding: 0;
  border: 0;
  border-radius: calc(var(--radius) * 1.6);
  overflow: hidden auto;
  overscroll-behavior: contain;
  background: var(--paper);
  color: var(--ink);
  font-family: var(--drape-font, inherit);
  /* Themes with \`html { font-size: 62.5% }\` would halve the text. */
  font-size: max(1rem, 16px);
  font-style: normal;
  font-weight: 400;
  line-height: 1.5;
  letter-spacing: normal;
  word-spacing: normal;
  text-align: start;
  text-indent: 0;
  text-shadow: none;
  text-transform: none;
  white-space: normal;
  visibility: visible;
  pointer-events: auto;
  cursor: auto;
  user-select: text;
  -webkit-text-fill-color: currentcolor;
  box-shadow: 0 24px 80px rgb(0 0 0 / 0.35);
}
dialog::backdrop {
  background: rgb(20 18 16 / 0.55);
}
.room {
  position: relative;
  display: grid;
  grid-template-columns: minmax(0, 11fr) minmax(0, 10fr);
}
.close {
  position: absolute;
  z-index: 1;
  inset-block-start: 12px;
  inset-inline-end: 12px;
  display: grid;
  place-items: center;
  inline-size: 44px;
  block-size: 44px;
  border: 0;
  border-radius: 50%;
  background: var(--paper);
  color: var(--ink);
  cursor: pointer;
}
.close:hover {
  background: var(--stage);
}

.stage {
  position: relative;
  align-self: stretch;
  display: grid;
  place-items: center;
  aspect-ratio: 4 / 5;
  inline-size: 100%;
  max-block-size: min(760px, 100dvh - 32px);
  overflow: hidden;
  background: var(--stage);
  color: var(--soft);
}
.stage canvas,
.stage video,
.stage img {
  display: block;
  inline-size: 100%;
  block-size: 100%;
  object-fit: contain;
}
/* As in a mirror; the photo itself is not mirrored. */
.stage video {
  transform: scaleX(-1);
}
.figure {
  display: grid;
  justify-items: center;
  gap: 12px;
  padding: 24px;
  max-inline-size: 22em;
  text-align: center;
}
.figure > svg {
  inline-size: 56px;
  block-size: 56px;
  stroke-width: 1;
}
.figure.guide {
  inline-size: 100%;
  max-inline-size: none;
  gap: 0;
  align-content: end;
  block-size: 100%;
  padding-block-end: 21px;
}
.figure.guide > svg {
  inline-size: 96%;
  max-block-size: 90%;
  block-size: auto;
  stroke: var(--edge);
  stroke-width: 0.12;
}
.figure.guide > p {
  position: absolute;
  inset-block-start: 40px;
}
@media (pointer: coarse) {
  .figure.guide > p {
    display: none;
  }
}
.stage.empty::before {
  content: "";
  position: absolute;
  inset: 20px;
  border: 1.5px dashed var(--edge);
  border-radius: var(--radius);
  pointer-events: none;
}
.stage.over::before {
  border-color: var(--accent);
  border-style: solid;
}
.stage.working canvas {
  filter: saturate(0.75) brightness(0.97);
}
.stage.working::after {
  position: absolute;
  inset-inline: 0;
  block-size: 45%;
  background: linear-gradient(transparent, rgb(255 255 255 / 0.5) 92%, rgb(255 255 255 / 0.95) 99%, transparent);
}

/* As high as the picture, whatever its content: the dialog keeps its height between steps, and the picture has no bars. */
.panel {
  contain: size;
  overflow-y: auto;
  display: flex;
  flex-direction: column;
  gap: 14px;
  justify-content: safe center;
  padding: 64px clamp(20px, 4vw, 40px) 32px;
}
.product {
  display: flex;
  align-items: center;
  gap: 10px;
  color: var(--soft);
  font-size: 0.875em;
}
.product img {
  inline-size: 40px;
  block-size: 50px;
  border-radius: calc(var(--radius) / 2);
  object-fit: cover;
  background: var(--stage);
}
h2 {
  font-size: 1.625em;
  font-weight: 650;
  line-height: 1.2;
  letter-spacing: -0.01em;
  text-wrap: balance;
}
h3 {
  font-size: 1em;
  font-weight: 600;
}
.soft {
  color: var(--soft);
}
.small {
  font-size: 0.8125em;
  line-height: 1.45;
}
.small a {
  color: inherit;
}
.warning {
  display: flex;
  gap: 8px;
  color: var(--warning);
}
.stack {
  display: grid;
  grid-template-columns: minmax(0, 1fr);
  gap: 10px;
}
.row {
  display: flex;
  flex-wrap: wrap;
  gap: 10px;
}
.row > * {
  flex: 1 1 8em;
}

progress {
  appearance: none;
  display: block;
  inline-size: 100%;
  block-size: 6px;
  border: 0;
  border-radius: 3px;
  overflow: hidden;
  background: var(--stage);
}
progress::-webkit-progress-bar {
  background: transparent;
}
progress::-webkit-progress-value {
  background: var(--accent);
  border-radius: 3px;
}
progress::-moz-progress-bar {
  background: var(--accent);
}
progress:indeterminate {
  background: linear-gradient(90deg, transparent, var(--accent), transparent) no-repeat 0 / 45% 100% var(--stage);
}
progress:indeterminate::-moz-progress-bar {
  background: transparent;
}

.stages {
  display: grid;
  gap: 10px;
  margin: 0;
  padding: 0;
  list-style: none;
}
.stages li {
  display: flex;
  gap: 10px;
  align-items: center;
  color: var(--soft);
}
.stages [aria-current] {
  color: var(--ink);
  font-weight: 600;
}
.mark {
  flex: none;
  display: grid;
  place-items: center;
  inline-size: 24px;
  block-size: 24px;
  border: 2px solid var(--edge);
  border-radius: 50%;
  color: transparent;
  font-size: 14px;
}
[data-state="done"] .mark {
  border-color: var(--accent);
  background: var(--accent);
  color: var(--on-accent);
}
[data-state="running"] .mark {
  border-color: var(--accent);
  border-block-start-color: transparent;
}

.sizes {
  min-inline-size: 0;
  margin: 0;
  padding: 0;
  border: 0;
}
.sizes legend {
  padding: 0;
  font-weight: 600;
}
.sizes div {
  display: flex;
  flex-wrap: wrap;
  gap: 8px;
  padding-block: 8px 4px;
}
.size {
  position: relative;
  display: grid;
  place-items: center;
  min-inline-size: 48px;
  min-block-size: 44px;
  padding: 4px 12px;
  border: 1.5px solid var(--edge);
  border-radius: var(--radius);
  overflow-wrap: anywhere;
  cursor: pointer;
}
.size input {
  position: absolute;
  inset: 0;
  margin: 0;
  opacity: 0;
  cursor: inherit;
}
.size:hover {
  background: var(--stage);
}
.size:has(:checked) {
  border-color: var(--accent);
  background: var(--accent);
  color: var(--on-accent);
}
.size:has(:focus-visible) {
  outline: 3px solid var(--accent);
  outline-offset: 3px;
}
.size:has(:disabled) {
  border-style: dashed;
  background: none;
  color: var(--soft);
  text-decoration: line-through;
  cursor: default;
}

.earlier {
  display: grid;
  gap: 10px;
  padding-block-start: 16px;
  border-block-start: 1px solid var(--stage);
}
.earlier ul {
  display: flex;
  gap: 10px;
  margin: 0;
  /* Room for the outline of the focus. */
  padding: 6px;
  overflow-x: auto;
  list-style: none;
}
.earlier button {
  display: block;
  inline-size: 64px;
  block-size: 80px;
  padding: 0;
  border: 2px solid transparent;
  border-radius: calc(var(--radius) / 2);
  overflow: hidden;
  background: var(--stage);
  color: inherit;
  cursor: pointer;
}
.earlier [aria-current] {
  border-color: var(--accent);
}
.earlier img {
  display: block;
  inline-size: 100%;
  block-size: 100%;
  object-fit: cover;
}
.earlier .figure {
  padding: 4px;
  overflow: hidden;
  font-size: 9px;
}

form,
.sharing {
  display: grid;
  grid-template-columns: minmax(0, 1fr);
  gap: 10px;
  padding-block-start: 16px;
  border-block-start: 1px solid var(--stage);
}
.field {
  display: flex;
  gap: 8px;
}
input[type="email"],
input[readonly] {
  flex: 1;
  min-inline-size: 0;
  min-block-size: 48px;
  padding: 0.5em 0.8em;
  border: 1.5px solid var(--edge);
  border-radius: var(--radius);
  background: var(--paper);
  color: var(--ink);
}
input[aria-invalid="true"] {
  border-color: var(--warning);
}
.choice {
  display: flex;
  gap: 10px;
  align-items: start;
  font-size: 0.8125em;
  line-height: 1.45;
  color: var(--soft);
}
.choice input {
  flex: none;
  inline-size: 20px;
  block-size: 20px;
  margin: 0;
  accent-color: var(--accent);
}
input[type="file"] {
  display: none;
}

@media (max-width: 700px) {
  dialog {
    inline-size: 100vw;
    max-inline-size: none;
    block-size: 100dvh;
    max-block-size: none;
    border-radius: 0;
  }
  .room {
    grid-template-columns: minmax(0, 1fr);
    align-content: start;
    min-block-size: 100%;
  }
  .stage {
    max-block-size: 56dvh;
  }
  .stage.empty {
    aspect-ratio: auto;
    block-size: 40dvh;
  }
  .panel {
    contain: none;
    justify-content: start;
    padding: 20px 20px max(24px, env(safe-area-inset-bottom));
  }
}

.stack:empty,
.stack > p:empty,
[hidden][class] {
  display: none;
}

@keyframes rise {
  from {
    opacity: 0;
    transform: translateY(16px);
  }
}
@keyframes appear {
  from {
    opacity: 0;
  }
}
@keyframes scan {
  from {
    inset-block-start: -45%;
  }
  to {
    inset-block-start: 100%;
  }
}
@keyframes slide {
  from {
    background-position:
      -80% 0,
      0 0;
  }
  to {
    background-position:
      180% 0,
      0 0;
  }
}
@keyframes turn {
  to {
    transform: rotate(1turn);
  }
}
@keyframes swing {
  50% {
    transform: rotate(9deg);
  }
}
@media (prefers-reduced-motion: no-preference) {
  .button,
  .primary,
  .secondary {
    transition:
      background-color 0.15s,
      opacity 0.15s;
  }
  dialog[open] {
    animation: rise 0.22s ease-out;
  }
  .stage img {
    animation: appear 0.5s ease-out;
  }
  .stage.working::after {
    content: "";
    animation: scan 2.6s ease-in-out infinite;
  }
  .button:is([data-step="waiting"], [data-step="sending"]) .icon {
    animation: swing 1.6s ease-in-out infinite;
    transform-origin: 50% 10%;
  }
  [data-state="running"] .mark {
    animation: turn 1.2s linear infinite;
  }
  progress:indeterminate {
    animation: slide 1.5s ease-in-out infinite;
  }
}
@media (forced-colors: active) {
  .primary,
  .button {
    border-color: ButtonText;
  }
}
`,f={BILLING_NOT_ALLOWED:`QUOTA_EXCEEDED`,CAPTCHA_REQUIRED:`VISITOR_TOKEN_REQUIRED`,CONSENT_POLICY_UNKNOWN:`CONSENT_OUTDATED`,FORBIDDEN:`RESULT_GONE`,GENERATION_CANCELLED:`GENERATION_FAILED`,GENERATION_NOT_COMPLETED:`RESULT_GONE`,GENERATION_NOT_FOUND:`RESULT_GONE`,IDEMPOTENCY_KEY_IN_USE:`SERVICE_UNAVAILABLE`,MISSING_REQUIRED_CLASSIFICATION:`PRODUCT_NOT_FOUND`,PROXY_SIGNATURE_INVALID:`QUOTA_EXCEEDED`,RATE_LIMITED:`RATE_LIMIT_EXCEEDED`,SHARE_LINK_GONE:`RESULT_GONE`},p={button:`Try it on`,buttonWorking:`Making your picture…`,buttonDone:`See your picture`,title:`Try it on`,close:`Close`,photoHeading:`Start with a photo of yourself`,photoHint:`Face the camera, upper body in view, in good light. One person only.`,choose:`Choose a photo`,camera:`Take a photo`,cameraHeading:`Take a photo of yourself`,cameraHint:`Stand back until your upper body is in the picture. The photo stays on your device until you send it.`,cameraWaiting:`Allow the camera if your browser asks`,shoot:`Take the photo`,retake:`Take it again`,back:`Back`,drop:`You can also drop it here`,readyHeading:`Your photo`,rememberedHeading:`Use the same photo again?`,previewAlt:`The photo you have chosen`,noPreview:`Your browser cannot show this photo, but you can use it.`,consent:`Your photo is sent to our fitting room to make this picture, and deleted automatically after a few days.`,consentMissing:`Please tick the box first.`,withdraw:`Withdraw consent and delete my photos`,withdrawn:`Your consent is withdrawn. Your photos and pictures are deleted.`,erase:`Delete my photos and pictures`,erased:`Your photos and pictures are deleted.`,privacy:`Privacy`,start:`Try it on`,another:`Another photo`,workHeading:`One moment, please`,sending:`Sending your photo`,waiting:`Waiting for a free fitting room`,making:`Making your picture`,offline:`Connection lost. We will continue as soon as it is back.`,stay:`You can close this and keep shopping. We will keep working.`,doneHeading:`Here you are`,resultAlt:`You, wearing: {product}`,resultAltPlain:`You, wearing the product`,note:`Software made this picture. It is not a prediction of fit: it cannot show which size suits you.`,earlier:`Your pictures`,pictureGone:`The picture cannot be shown here. Download it instead.`,share:`Share`,download:`Download`,size:`Size`,sizeMissing:`Please choose a size first.`,soldOut:`{size}, sold out`,cart:`Add to cart`,cartAdded:`It is in your cart.`,cartFailed:`The product could not be added to your cart. Please use the button of the shop.`,shareLink:`Link to your picture`,copy:`Copy`,copied:`The link is copied.`,shareUntil:`Anyone with the link can see the picture until {date}.`,emailHeading:`Be the first to hear about new products`,email:`E-mail address`,emailConsent:`Yes, the shop may send me news and offers`,emailSend:`Send`,emailThanks:`Thank you.`,emailInvalid:`Please check the address.`,errorHeading:`That did not work`,retry:`Try again`,appeal:`Ask for a review`,errors:{NETWORK:`No connection to the shop. Your photo is still here, nothing is lost.`,CAMERA_DENIED:`The browser does not allow the camera. Allow it in the settings of this page, or choose a photo instead.`,CAMERA_MISSING:`No camera was found. Please choose a photo instead.`,CAMERA_FAILED:`The camera does not start. Another program may be using it. Please choose a photo instead.`,NO_PERSON_DETECTED:`We cannot find a person in the photo. One that shows you from the front works best.`,IMAGE_TOO_SMALL:`The photo is too small or too narrow. Please choose a larger one.`,INVALID_IMAGE:`This file is damaged or is not a photo.`,UNSUPPORTED_IMAGE_TYPE:`Please use a photo in one of these formats: JPEG, PNG, WebP or HEIC.`,FILE_TOO_LARGE:`The photo is larger than 10 MB. Please choose a smaller one.`,IMAGE_NOT_FOUND:`The photo has been deleted. Please add it again.`,UPLOAD_NOT_FOUND:`The photo did not arrive in time. Please send it again.`,CONSENT_REQUIRED:`We need your consent before we can use your photo.`,CONSENT_OUTDATED:`The text that you agreed to has changed. Please read it again.`,VISITOR_TOKEN_REQUIRED:`We could not check that you are not a robot. Please reload the page and try again.`,QUOTA_EXCEEDED:`The fitting room of this shop is closed for now. Please come back later.`,RATE_LIMIT_EXCEEDED:`That was a lot at once. Please try again in {minutes} min.`,DAY_EXCEEDED:`All try-ons for today have been used. New ones are available tomorrow.`,WEEK_EXCEEDED:`You have used all your try-ons for this week. You get new ones on Monday.`,PRODUCT_NOT_FOUND:`This product cannot be tried on yet.`,PRODUCT_IMAGE_FETCH_FAILED:`This product cannot be tried on yet because its picture is missing.`,GENERATION_FAILED:`The picture could not be made. Please try again; another photo may help.`,GENERATION_TIMEOUT:`It took too long, so we stopped. Please try again.`,RESULT_REJECTED:`The picture did not turn out well, so we do not show it. Another photo may help.`,NUDITY_DETECTED:`This image shows too much skin for this shop. Please use another photo.`,EXPOSURE_NOT_ALLOWED:`This shop cannot use photos in underwear or swimwear. Please use another one.`,IMAGE_LISTED:`This image cannot be used in this shop. Please use another one.`,SEVERAL_PEOPLE:`There are several people in the photo. Please use one that shows only you.`,AGE_REVIEW:`We cannot tell whether the photo shows an adult. Please ask for a review by a person, or use another photo.`,SAFETY_UNAVAILABLE:`We could not check the photo. Please try again later.`,RESULT_GONE:`The picture has been deleted. You can make a new one.`,SERVICE_UNAVAILABLE:`The fitting room is taking a short break. Please try again in a moment.`,UNEXPECTED:`Something went wrong on our side. Please try again.`}};let m=[`ar`,`de`,`es`,`fr`,`it`,`pl`,`pt`],h=/^(ar|ckb|dv|fa|he|iw|ps|sd|ug|ur|yi)\b/;function g(){let e=/* @__PURE__ */ new Map;return(t,n)=>{let r=`${n}/widget/${t}.json`,i=e.get(r)??_(r).catch(()=>(e.delete(r),{}));return e.set(r,i),i}}async function _(e){let t=await fetch(e,{signal:AbortSignal.timeout(4e3)});if(!t.ok)throw Error(`${e}: ${t.status}`);return await t.json()}async function v(e,t,n){let r=b(e.closest(`[lang]`)?.getAttribute(`lang`)??``),i=r.split(`-`)[0],a=m.includes(i)?await n(i,t):{},{errors:o,...s}=ee(e),c=e.getAttribute(`label`),l={...p,...a,...s,...c&&{button:c},errors:{...p.errors,...a.errors,...o}};return i===`en`||Object.keys(a).length>0||Object.keys(s).length>0?{tag:r,direction:h.test(r)?`rtl`:`ltr`,texts:l}:{...y,texts:l}}let y={tag:`en`,direction:`ltr`};function b(e){try{return Intl.getCanonicalLocales(e.trim().replaceAll(`_`,`-`))[0]??`en`}catch{return`en`}}function ee(e){let t=e.querySelector(`script[type="application/json"]`)?.textContent;if(!t)return{};try{return JSON.parse(t)}catch{return console.warn(`drape-try-on: the texts in the element are not JSON`),{}}}function x(e,t){return e.replace(/\{(\w+)\}/g,(e,n)=>t[n]??e)}let te=f;function ne(e,{errors:t}){let n=e.period===null?e.code:`${e.period.toUpperCase()}_EXCEEDED`,r=Math.max(1,Math.ceil((e.retrySeconds??60)/60));return x(t[n]??t[te[n]]??t.UNEXPECTED,{minutes:String(r)})}function S(e){if(typeof e==`string`)return C(e);if(typeof e==`number`)return Number.isFinite(e)?String(e):`null`;if(typeof e==`boolean`||e===null)return String(e);if(typeof e!=`object`)return;if(Array.isArray(e))return`[${e.map(e=>S(e)??`null`).join()}]`;if(e instanceof Date)return Number.isNaN(e.getTime())?`null`:C(e.toISOString());let{toJSON:t}=e;return typeof t==`function`&&t!==Object(Object.prototype).toJSON?S(t.call(e)):`{${Object.entries(e).flatMap(([e,t])=>{let n=S(t);return n===void 0?[]:[`${C(e)}:${n}`]}).join()}}`}function C(e){return`"${e.replace(/["\\\p{Cc}\p{Cs}]/gu,e=>`\\u${e.charCodeAt(0).toString(16).padStart(4,`0`)}`)}"`}function re(e){let t=(t,n)=>{let r=e?T(t,n):null,i=r!==null&&ie.test(r)?r:w();return e&&i!==r&&E(t,n,i),i};return{clientId:t(()=>localStorage,`drape:client`),sessionId:`sess_${t(()=>sessionStorage,`drape:session`)}`,pageviewId:ae.idOf(location.href)}}let ie=/^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/,ae=oe();function oe(){let e={href:``,id:``};return{idOf:t=>(e.href!==t&&(e={href:t,id:w()}),e.id)}}function w(){let e=crypto.getRandomValues(/* @__PURE__ */ new Uint8Array(16));return e[6]=e[6]&15|64,e[8]=e[8]&63|128,[...e].map(e=>e.toString(16).padStart(2,`0`)).join(``).replace(/^(.{8})(.{4})(.{4})(.{4})/,`$1-$2-$3-$4-`)}function T(e,t){try{return e().getItem(t)}catch{return null}}function E(e,t,n){try{n===``?e().removeItem(t):e().setItem(t,n)}catch{}}let D=10485760;async function se(t){if(t.type!==``&&!t.type.startsWith(`image/`))throw new e(`UNSUPPORTED_IMAGE_TYPE`);let n=await createImageBitmap(t).catch(()=>null),{short:r,long:i}=O(n);if(n&&(r<16||i>10*r))throw new e(`IMAGE_TOO_SMALL`);if(!(t.size>D||i>12e3||r*i>5e7))return{file:t,imageId:null,bitmap:n};if(n===null)throw new e(`FILE_TOO_LARGE`);return{file:await ue(n,3e3),imageId:null,bitmap:n}}function ce({bitmap:e}){return e!==null&&O(e).short<200}function O(e){let{width:t,height:n}=e??{width:0,height:0};return{short:Math.min(t,n),long:Math.max(t,n)}}function le(e,t){let n=k(e,1e3);return n.setAttribute(`role`,`img`),n.setAttribute(`aria-label`,t),n}function k(e,t){let n=Math.min(1,t/Math.max(e.width,e.height)),r=document.createElement(`canvas`);return r.width=Math.round(e.width*n),r.height=Math.round(e.height*n),r.getContext(`2d`)?.drawImage(e,0,0,r.width,r.height),r}async function ue(t,n){let r=await new Promise(e=>k(t,n).toBlob(e,`image/jpeg`,.92));if(r===null||r.size>D)throw new e(`FILE_TOO_LARGE`);return r}let A=`drape:photo`;function de({bitmap:e},t){let n=e&&k(e,320).toDataURL(`image/jpeg`,.8);E(()=>sessionStorage,A,S({imageId:t,thumbnail:n}))}function fe(){E(()=>sessionStorage,A,``)}function pe(){return T(()=>sessionStorage,A)!==null}async function me(){try{let{imageId:e,thumbnail:t}=JSON.parse(T(()=>sessionStorage,A)??`{}`);return typeof e==`string`?{file:null,imageId:e,bitmap:typeof t==`string`?await he(t):null}:null}catch{return null}}function he(e){let t=Uint8Array.from(atob(e.slice(e.indexOf(`,`)+1)),e=>e.charCodeAt(0));return createImageBitmap(new Blob([t],{type:`image/jpeg`}))}let ge=`drape:results`;function j(){try{let e=JSON.parse(T(()=>sessionStorage,ge)??`[]`);return Array.isArray(e)?e.filter(_e):[]}catch{return[]}}function _e(e){return[e?.generationId,e?.resultImageUrl,e?.product,e?.title].every(e=>typeof e==`string`)}function ve(e){M([e,...j().filter(({generationId:t})=>t!==e.generationId)].slice(0,12))}function ye(e){M(j().filter(({generationId:t})=>t!==e))}function be(){M([])}function M(e){E(()=>sessionStorage,ge,e.length===0?``:S(e))}let N=`drape:wish:`;function xe(e,t){E(()=>sessionStorage,F(e),t)}function Se(e){return T(()=>sessionStorage,F(e))}function P(e){E(()=>sessionStorage,F(e),``)}function Ce(){a(()=>{for(let e of Object.keys(sessionStorage))e.startsWith(N)&&sessionStorage.removeItem(e)})}function F({product:e,variant:t}){return`${N}${t??e}`}function we({shop:e,tag:t}){let n=null,r=null,i=()=>{n=null,r=null};return{load:()=>(n??=e.findConsent(t).catch(()=>(n=null,null)),n),agree:e=>{r=e},settle:async t=>{if(r===null)return;await t();let{at:i}=await e.giveConsent(r);n=Promise.resolve({...r,givenAt:i}),r=null},forget:i,withdraw:async()=>{await e.withdrawConsent(),fe(),be(),Ce(),i()}}}function I(e,t={},...n){let r=document.createElement(e);for(let[e,n]of Object.entries(t))typeof n==`function`?r.addEventListener(e,n):n!==!1&&n!==null&&r.setAttribute(e,n===!0?``:String(n));return r.append(...n.filter(e=>e!==null)),r}let Te={check:`M5 12.500 10 17.500 19 7`,hanger:`M12 8.5V7.2a2.1 2.1 0 1 0-2.1-2.1M12 8.5 2.9 15a1.4 1.4 0 0 0 .8 2.5h16.6a1.4 1.4 0 0 0 .8-2.5z`,close:`M6 6l12 12M18 6 6 18`,person:`M12 10.2a3.6 3.6 0 1 0 0-7.2 3.6 3.6 0 0 0 0 7.2zM3.500 24v-3.500c0-4.200 3.800-7.300 8.500-7.300s8.500 3.100 8.500 7.300V24`,photo:`M4 7.5h3.2L8.8 5h6.4l1.6 2.5H20v11H4zM12 16.2a3.4 3.4 0 1 0 0-6.8 3.4 3.4 0 0 0 0 6.8z`,upload:`M12 15.5V4.5M7.5 8.5 12 4l4.500 4.500M4.500 15.500v4h15v-4`,share:`M12 14.500V3.500M8 7l4-4 4 4M6 11H4.500v9.500h15V11H18`,download:`M12 3.500v11M7.500 10.500 12 15l4.500-4.500M4.500 19.500h15`,warning:`M12 8.500v5M12 16.600v.1M12 3.500 2.500 20h19z`};function L(e){let t=document.createElementNS(`http://www.w3.org/2000/svg`,`svg`);for(let[e,n]of Object.entries({viewBox:`0 0 24 24`,"aria-hidden":`true`,class:`icon`}))t.setAttribute(e,n);let n=document.createElementNS(t.namespaceURI,`path`);return n.setAttribute(`d`,Te[e]),t.append(n),t}function R(e,t,{looks:n,symbol:r=null}){return I(`button`,{type:`button`,class:n,part:n,click:t},r,e)}function Ee(e){let{consent:t,texts:n,announce:r}=e,i=I(`input`,{type:`checkbox`,id:`consent`,required:!0}),a=I(`p`,{class:`warning small`,id:`consent-problem`,hidden:!0},n.consentMissing),o=I(`div`,{class:`stack`,part:`consent`}),s=t.load();return s.then(t=>{o.append(...z(t)?[ke(t,i),a]:[Ae(n)],je(t,e)),o.dataset.loaded=``}),i.addEventListener(`change`,()=>{a.hidden=i.checked,i.setAttribute(`aria-invalid`,String(!i.checked))}),{element:o,check:async()=>{let e=await s;return z(e)?i.checked?(t.agree(e),!0):(a.hidden=!1,i.setAttribute(`aria-invalid`,`true`),i.setAttribute(`aria-describedby`,a.id),r(n.consentMissing),i.focus(),!1):!0}}}function De({consent:e,texts:t,withdraw:n}){let r=I(`div`,{class:`stack`});return e.load().then(e=>{let i=e?.givenAt?t.withdraw:Oe()?t.erase:null;i!==null&&r.append(R(i,()=>n(e?.givenAt?t.withdrawn:t.erased),{looks:`plain`}))}),r}function Oe(){return pe()||j().length>0}function z(e){return e?.required===!0&&e.givenAt===null}function ke({text:e,language:t},n){return I(`label`,{class:`choice`,lang:t},n,I(`span`,{},e))}function Ae(e){return I(`p`,{class:`soft small`},e.consent)}function je(e,{settings:t,texts:n}){let r=t.privacyUrl??e?.privacyUrl;return I(`p`,{class:`small`},r&&I(`a`,{href:r,target:`_blank`,rel:`noopener`,part:`privacy`},n.privacy)||null)}function B(n,{alt:r,texts:i,shop:a,onlyProxy:o}){let s=e=>o?[a.downloadUrl(e)]:[e,a.downloadUrl(e)],c=I(`img`,{alt:r}),l=s(n.resultImageUrl),u=!1,d=async()=>{if(l.length===0&&!u){u=!0;let r=await a.findGeneration(n.generationId).catch(t),i=r instanceof e?void 0:r.resultImageUrl;(r instanceof e?r.code===`GENERATION_NOT_FOUND`:i===void 0)&&ye(n.generationId),l=i===void 0?[]:s(i)}let r=l.shift();r===void 0?c.replaceWith(I(`p`,{class:`figure small`},i.pictureGone)):c.src=r};return c.addEventListener(`error`,()=>void d()),d(),c}function Me(e,t,n){if(e.every(({generationId:e})=>e===t))return[];let{texts:r,look:i}=n,a=e.map(e=>I(`li`,{},I(`button`,{type:`button`,"aria-current":e.generationId===t?`true`:null,click:()=>i(e)},B(e,{...n,alt:V(e,r)}))));return[I(`section`,{class:`earlier`,part:`earlier`},I(`h3`,{id:`earlier`},r.earlier),I(`ul`,{"aria-labelledby":`earlier`},...a))]}function V({title:e},t){return e===``?t.resultAltPlain:x(t.resultAlt,{product:e})}function H(){let{featurePolicy:e}=document;return!!navigator.mediaDevices?.getUserMedia&&e?.allowsFeature(`camera`)!==!1}async function Ne(){return H()?(await navigator.mediaDevices.enumerateDevices().catch(()=>[])).some(({kind:e})=>e===`videoinput`):!1}let Pe={NotAllowedError:`CAMERA_DENIED`,NotFoundError:`CAMERA_MISSING`,OverconstrainedError:`CAMERA_MISSING`},U={ideal:1920};async function Fe(){let t=I(`video`,{playsinline:!0});t.muted=!0;try{return t.srcObject=await navigator.mediaDevices.getUserMedia({audio:!1,video:{facingMode:`user`,width:U,height:U}}),await t.play(),t}catch(n){throw W(t),new e(Pe[n.name]??`CAMERA_FAILED`)}}function W(e){for(let t of G(e))t.stop();e&&(e.srcObject=null)}function Ie(e,t){for(let n of G(e))n.addEventListener(`ended`,t)}function G(e){return e?.srcObject instanceof MediaStream?e.srcObject.getTracks():[]}async function Le(t){let n=I(`canvas`,{width:t.videoWidth,height:t.videoHeight});n.getContext(`2d`)?.drawImage(t,0,0);let r=await new Promise(e=>n.toBlob(e,`image/jpeg`,.92));if(r===null)throw new e(`CAMERA_FAILED`);return r}function Re(e,t){let n=ze(e,t);return[q(e.photoHeading),I(`p`,{class:`soft`},e.photoHint),I(`div`,{class:`stack`},...K(e,t),...n)]}function K(e,{choose:t}){let n=J(`file`,t),r=R(e.choose,()=>n.click(),{looks:`primary`,symbol:L(`upload`)});return r.dataset.focus=``,[r,n]}function ze(e,{choose:t,openCamera:n}){let r=matchMedia(`(pointer: coarse)`).matches,i=J(`camera`,t),a=H()?n:()=>i.click(),o=R(e.camera,a,{looks:`secondary`,symbol:L(`photo`)});return o.hidden=!r,r||Ne().then(e=>{o.hidden=!e}),[o,i]}function Be(e,{choose:t}){if(!matchMedia(`(pointer: coarse)`).matches)return[];let n=J(`camera`,t);return[R(e.camera,()=>n.click(),{looks:`secondary`,symbol:L(`photo`)}),n]}function Ve({video:e},{texts:t,actions:n}){let r=async()=>{i.disabled=!0,await n.shoot().catch(()=>{i.disabled=!1})},i=R(t.shoot,()=>void r(),{looks:`primary`,symbol:L(`photo`)}),a=R(t.back,n.leaveCamera,{looks:`secondary`}),o=e===null;return i.disabled=o,(o?a:i).dataset.focus=``,[q(t.cameraHeading),I(`p`,{class:`soft`},o?t.cameraWaiting:t.cameraHint),I(`div`,{class:`stack`},i,a)]}function He(e,{texts:t,actions:n,consenting:r}){let i=Ee(r),a=async()=>{await i.check()&&n.start()},o=R(t.start,()=>void a(),{looks:`primary`,symbol:L(`hanger`)});o.dataset.focus=``;let s=R(t.retake,n.openCamera,{looks:`secondary`,symbol:L(`photo`)});return[q(e.source===`memory`?t.rememberedHeading:t.readyHeading),i.element,I(`div`,{class:`stack`},o,e.source===`camera`&&H()?s:null,R(t.another,n.restart,{looks:`secondary`}))]}function q(e){return I(`h2`,{tabindex:-1,id:`heading`},e)}function J(e,t){let n=I(`input`,{type:`file`,accept:`image/*`,tabindex:-1,"aria-hidden":`true`,capture:e===`camera`?`user`:null,change:()=>{let[r]=n.files??[];r&&t(r,e)}});return n}function Ue(e,{texts:t,actions:n,close:r,language:a}){let o=(e,n=`primary`)=>R(t.retry,e,{looks:n}),s=e=>R(t.another,n.restart,{looks:e}),c={again:()=>[o(n.start),s(`secondary`)],photo:()=>[s(`primary`)],consent:()=>[o(n.review)],camera:()=>[...K(t,n),...Be(t,n),o(n.openCamera,`secondary`)],none:()=>[R(t.close,r,{looks:`primary`})]}[i(e)](),l=e=>I(`p`,{class:`small`},I(`a`,{href:`${e}?lang=${a}`,target:`_blank`,rel:`noopener`,part:`appeal`},t.appeal));return c[0].dataset.focus=``,[q(t.errorHeading),I(`p`,{class:`warning`,part:`error`},L(`warning`),I(`span`,{},ne(e,t))),I(`div`,{class:`stack`},...c),...e.appealUrl===null?[]:[l(e.appealUrl)]]}function We(e,t){let n=[e.sending,e.waiting,e.making],r=I(`progress`,{max:1}),i=n.map(e=>I(`li`,{},I(`span`,{class:`mark`},L(`check`)),I(`span`,{},e))),a=I(`p`,{class:`warning`,hidden:!0},e.offline),o=null;return{elements:[q(e.workHeading),I(`ol`,{class:`stages`},...i),r,a,I(`p`,{class:`soft`},e.stay)],update:s=>{let c=Ge(s),l=n[c];i.forEach((e,t)=>{e.dataset.state=t<c?`done`:t===c?`running`:`next`,t===c?e.setAttribute(`aria-current`,`step`):e.removeAttribute(`aria-current`)}),o!==l&&(r.setAttribute(`aria-label`,l),t(l)),o=l,s.name===`sending`&&s.part<1?r.value=s.part:r.removeAttribute(`value`);let u=s.name===`waiting`&&s.isOffline;u&&a.hidden&&t(e.offline),a.hidden=!u}}}function Ge(e){return e.name===`sending`?0:e.status===`PENDING`?1:2}function Ke(e){let{texts:t,sizes:n,actions:r,announce:i}=e,a=I(`p`,{class:`small`}),o=R(t.cart,()=>void l(),{looks:`primary`}),s=e=>{a.textContent=e,i(e)},c=qe(e,()=>{a.textContent=``}),l=async()=>{let e=r.chosenSize();if(n.length>0&&e===null)return s(t.sizeMissing),c.querySelector(`input:enabled`)?.focus();o.disabled=!0;let i=await r.addToCart(e);o.disabled=!1,s(i?t.cartAdded:t.cartFailed)};return o.disabled=n.length>0&&n.every(({isSoldOut:e})=>e),I(`div`,{class:`stack`},n.length>0?c:null,o,a)}function qe({texts:e,sizes:t,actions:n},r){let i=n.chosenSize(),a=t.map(t=>{let{title:a,isSoldOut:o}=t;return I(`label`,{class:`size`},I(`input`,{type:`radio`,name:`size`,"aria-label":o?x(e.soldOut,{size:a}):null,disabled:o,checked:t===i,change:()=>{n.chooseSize(t),r()}}),I(`span`,{},a))});return I(`fieldset`,{class:`sizes`,part:`sizes`},I(`legend`,{},e.size),I(`div`,{},...a))}function Je(e,{leave:t,announce:n}){let r=I(`input`,{type:`email`,id:`email`,autocomplete:`email`,placeholder:`name@example.com`}),i=I(`input`,{type:`checkbox`,id:`email-consent`}),a=I(`p`,{class:`warning small`,id:`email-problem`,hidden:!0},e.emailInvalid),o=R(e.emailSend,()=>{},{looks:`secondary`});o.type=`submit`;let s=I(`form`,{novalidate:!0,part:`email`,submit:o=>{o.preventDefault();let c=/^\S+@\S+\.\S+$/.test(r.value.trim());if(a.hidden=c,r.setAttribute(`aria-invalid`,String(!c)),!c)return r.setAttribute(`aria-describedby`,`email-problem`),n(e.emailInvalid),r.focus();t(r.value.trim(),i.checked);let l=I(`p`,{tabindex:-1},e.emailThanks);s.replaceChildren(l),l.focus()}},I(`h3`,{},I(`label`,{for:`email`},e.emailHeading)),I(`div`,{class:`field`},r,o),a,I(`label`,{class:`choice`},i,e.emailConsent));return r.setAttribute(`aria-label`,e.email),s}function Ye(e,t){let{language:n,settings:r,actions:i,announce:a,complain:o}=t,{texts:s}=n,c=I(`div`,{class:`stack`}),l=R(s.share,()=>void Xe(e,{...t,place:c}).catch(o),{looks:`secondary`,symbol:L(`share`)}),u=R(s.download,()=>void i.download().catch(o),{looks:`secondary`,symbol:L(`download`)}),d=r.hasCart&&e.product===r.product;return[q(s.doneHeading),I(`p`,{class:`soft small`,part:`note`},s.note),...d?[Ke({texts:s,sizes:r.sizes,actions:i,announce:a})]:[],I(`div`,{class:`row`},l,u),c,...r.hasEmail?[Je(s,{leave:i.leaveEmail,announce:a})]:[],R(s.another,i.restart,{looks:`plain`})]}async function Xe({title:e},{place:t,actions:n,announce:r,language:i}){let a=await n.share();t.replaceChildren(Ze(a,i,r));let o={url:a.shareUrl,...e&&{title:e}};if(navigator.canShare?.(o))return navigator.share(o).catch(()=>{});t.querySelector(`input`)?.select()}function Ze(e,{texts:t,tag:n},r){let i=I(`input`,{readonly:!0,value:e.shareUrl,"aria-label":t.shareLink,type:`url`}),a=async()=>{i.select(),await navigator.clipboard?.writeText(e.shareUrl).catch(()=>document.execCommand(`copy`)),r(t.copied)},o=new Intl.DateTimeFormat(n,{dateStyle:`long`}).format(new Date(e.expiresAt));return I(`div`,{class:`sharing`,part:`share-link`},I(`div`,{class:`field`},i,R(t.copy,()=>void a(),{looks:`secondary`})),I(`p`,{class:`soft small`},x(t.shareUntil,{date:o})))}function Qe(e){let t=I(`div`,{class:`stage`,part:`picture`}),n=null;return{element:t,show:r=>{t.classList.toggle(`empty`,r.name===`photo`),t.classList.toggle(`working`,r.name===`sending`||r.name===`waiting`);let i=$e(r);i!==n&&(n=i,t.replaceChildren(et(r,e)))}}}function $e(e){return e.name===`done`?e.result.generationId:e.name===`camera`?e.video??e.name:e.name===`photo`?e.name:e.photo}function et(e,t){let{texts:n,shop:r,settings:i}=t;if(e.name===`done`){let t=V(e.result,n);return B(e.result,{alt:t,texts:n,shop:r,onlyProxy:i.onlyProxy})}if(e.name===`camera`)return e.video??I(`div`,{class:`figure`},L(`photo`),I(`p`,{},n.cameraWaiting));let a=e.name===`photo`?null:e.photo;return a===null?I(`div`,{class:`figure guide`},L(`person`),I(`p`,{class:`small`},n.drop)):tt(a,t)}function tt({bitmap:e},{texts:t}){return e===null?I(`div`,{class:`figure`},L(`photo`),I(`p`,{},t.noPreview)):le(e,t.previewAlt)}function nt(e){let{language:t,settings:n,shop:r,actions:i,onClose:a}=e,{texts:o,tag:s,direction:c}=t,l=Qe({texts:o,...e}),u=I(`div`,{class:`panel`,part:`panel`}),d=I(`p`,{class:`unseen`,role:`status`}),f=I(`p`,{class:`unseen`,role:`alert`}),p=()=>g.close(),m=I(`button`,{type:`button`,class:`close`,part:`close`,"aria-label":o.close,click:p});m.append(L(`close`));let h=I(`div`,{class:`room`},l.element,u,m),g=I(`dialog`,{part:`dialog`,lang:s,dir:c,"aria-label":o.title,close:a},h,d,f);it(g),at(g,l.element,i.choose);let _=e=>{d.textContent=e},v=We(o,_),y={texts:o,announce:_,...e,withdraw:t=>{i.withdraw().then(()=>_(t),e.complain)}},b=null;function ee(t){if(t.name===`failed`)return Ue(t.failure,{texts:o,actions:i,close:p,language:s});if(t.name===`camera`)return Ve(t,{texts:o,actions:i});if(t.name===`sending`||t.name===`waiting`)return v.elements;let a=t.name===`done`?t.result.generationId:null,{onlyProxy:c}=n,l=[...Me(j(),a,{texts:o,shop:r,onlyProxy:c,look:i.look}),De(y)];return t.name===`photo`?[...Re(o,i),...l]:t.name===`ready`?[...He(t,{texts:o,actions:i,consenting:y}),...l]:[...Ye(t.result,{...e,announce:_}),...l]}function x(){g.open&&(u.querySelector(`[data-focus]`)??u.querySelector(`h2`))?.focus({preventScroll:!0})}return{element:g,show:e=>{l.show(e);let t=e.name===`sending`||e.name===`waiting`,r=!t||b!==`sending`&&b!==`waiting`;g.dataset.step=e.name,b=e.name,r&&u.replaceChildren(rt(n),...ee(e)),t&&v.update(e),e.name===`done`&&_(o.doneHeading),f.textContent=e.name===`failed`?ne(e.failure,o):``,r&&x()},open:()=>{g.open||g.showModal(),x()}}}function rt({title:e,image:t}){let n=t===null?null:I(`img`,{src:t,alt:``});return I(`p`,{class:`product`,part:`product`,hidden:e===``&&t===null},n,e)}function it(e){let t=null;e.addEventListener(`pointerdown`,({target:e})=>{t=e}),e.addEventListener(`click`,({target:n})=>{n===e&&t===e&&e.close()})}function at(e,t,n){let r=e=>n=>{n.preventDefault(),t.classList.toggle(`over`,e)};e.addEventListener(`dragover`,r(!0)),e.addEventListener(`dragleave`,r(!1)),e.addEventListener(`drop`,e=>{r(!1)(e);let[i]=e.dataTransfer?.files??[];i&&t.classList.contains(`empty`)&&n(i,`drop`)})}let Y=`1.0.0`;function ot({product:e,variant:t},n,r){return{...X(),$referrer:document.referrer||null,$referring_domain:URL.canParse(document.referrer)?new URL(document.referrer).hostname:null,$session_id:n.sessionId,$pageview_id:n.pageviewId,service_client_id:n.clientId,service_widget_enabled:r,service_product_id:e||null,service_variant_id:t,service_lib_version:Y}}function st({product:e,variant:t},n,r){return{...X(),anonymous_id:`anon_${n.clientId}`,session_id:n.sessionId,$pageview_id:n.pageviewId,widget_version:`wv_${Y}`,widget_enabled:r,product_id:e||null,variant_id:t,integration:`widget`}}function X(){return{$current_url:location.href,$pathname:location.pathname,$host:location.host,$screen_width:screen.width,$screen_height:screen.height,$viewport_width:innerWidth,$viewport_height:innerHeight,$raw_user_agent:navigator.userAgent,$browser_language:navigator.language,$timezone:Intl.DateTimeFormat().resolvedOptions().timeZone}}function ct(e,t,n){let r=e.publishableKey===null?dt:ft,i=[],a,o=800,s=!1,c=0;async function l(){if(clearTimeout(a),a=void 0,s||i.length===0)return;s=!0;let l=i.splice(0,50),{outcome:d,retrySeconds:f}=await r(l,{settings:e,visit:t,isEnabled:n()}).catch(()=>mt);s=!1,c=d===`refused`?c+1:0;let p=d===`taken`||c>=3;o=p?800:Math.max(Math.min(o*4,6e4),f*1e3),p||(i=[...l,...i].slice(-200)),i.length>0&&u()}function u(){a??=setTimeout(l,o)}let d=()=>document.visibilityState===`hidden`&&void l(),f=()=>void l();return document.addEventListener(`visibilitychange`,d),addEventListener(`pagehide`,f),{track:(t,n={})=>{let r=ut(t,e);if(!e.hasAnalytics||r===null)return;let a={product_id:e.product,...e.variant&&{variant_id:e.variant},...n};i.push({event:r,properties:a,timestamp:(/* @__PURE__ */ new Date()).toISOString(),$insert_id:w()}),u()},stop:()=>{document.removeEventListener(`visibilitychange`,d),removeEventListener(`pagehide`,f),l()}}}let lt={"product_page:page_view":`product_page:page_view`,"product_page:cart_add":`product_page:cart_add`,"widget:button_click":`widget:button_click`,"widget:image_upload":`widget:image_upload`,"widget:generation_start":`widget:generation_start`,"widget:result_view":`widget:result_view`,"widget:share_clicked":`widget:share_clicked`,"widget:download_clicked":`widget:download_clicked`,"widget:add_to_cart_clicked":`widget:add_to_cart_clicked`,"widget:add_to_cart_success":`widget:add_to_cart`,"widget:email_collected":`widget:email_collected`};function ut(e,{publishableKey:t}){return t===null?e:lt[e]??null}function dt(e,{settings:t,visit:n,isEnabled:r}){if(t.proxy===null)return Promise.resolve(Z);let i=ot(t,n,r);return ht(`${t.proxy}/public/tracking/events`,{events:e,context:i},{})}function ft(e,{settings:t,visit:n,isEnabled:r}){let i=t.service??t.proxy;if(i===null)return Promise.resolve(Z);let a=st(t,n,r);return ht(`${i}/storefront/v1/events`,{events:e,context:a},{authorization:`Bearer ${t.publishableKey}`,"x-service-anonymous-id":a.anonymous_id})}let Z={outcome:`taken`,retrySeconds:0},pt={outcome:`refused`,retrySeconds:0},mt={outcome:`lost`,retrySeconds:0};async function ht(e,t,n){let r=await fetch(e,{method:`POST`,headers:{"content-type":`application/json`,...n},body:S(t),keepalive:!0,redirect:`error`});if(r.status===429)return{outcome:`lost`,retrySeconds:Number(r.headers.get(`retry-after`))||0};if(!r.ok)return r.status>=500?mt:pt;let{success:i}=await r.json();return i?Z:pt}let gt=`drape:visitor`;function _t({settings:e,clientId:t,track:n}){let r=`${e.proxy}/public`,i={"x-service-anonymous-id":`anon_${t}`},a=()=>e.hasAnalytics?localStorage:sessionStorage,o=({visitorToken:e,expiresAt:t})=>{Date.parse(t)>Date.now()&&(i[`x-service-visitor-token`]=e)};try{o(JSON.parse(T(a,gt)??`{}`))}catch{}async function s(e,t={}){try{let n={...t,headers:{...i,...t.headers}};return await vt(`${r}/${e}`,{...n,signal:AbortSignal.timeout(3e4)})}catch(t){let{code:r,status:i}=t;throw n(`api:error`,{code:r,status:i,path:e.replace(/[/?].*/,``)}),t}}let c=(e,t,n={})=>s(e,{method:`POST`,headers:{...t&&{"content-type":`application/json`},...n},...t&&{body:S(t)}});return{nameVisitor:async e=>{if(i[`x-service-visitor-token`])return;let t=e=>c(`visitor`,e),n=await t({}).catch(async n=>{let r=n.code===`CAPTCHA_REQUIRED`?await e():null;return r===null?null:await t({captcha:r})}).catch(()=>null);n!==null&&(o(n),E(a,gt,S(n)))},uploadUrl:`${r}/upload-image`,headers:i,checkCredits:()=>s(`check-credits`),findConsent:e=>s(`consent?${new URLSearchParams({lang:e})}`),giveConsent:({policy:e,version:t,language:n})=>c(`consent`,{policy:e,version:t,language:n}),withdrawConsent:()=>c(`withdraw-consent`),prepareUpload:()=>c(`prepare-upload`),completeUpload:e=>c(`upload-complete`,{uploadKey:e}),enterFittingRoom:(t,n)=>c(`fitting-room`,{userImageId:t,productId:e.product,...e.variant&&{variantId:e.variant}},{"idempotency-key":n}),findGeneration:e=>s(`generation/${e}`),share:e=>c(`share-generation`,{generationId:e,effectiveDomain:location.hostname}),leaveEmail:(e,t)=>c(`collect-email`,{email:e,marketingConsent:t}),downloadUrl:(t,n=e.title)=>`${r}/download-image?${new URLSearchParams({url:t,filename:n})}`}}async function vt(t,n){let r=await fetch(t,{...n,redirect:`error`}).catch(()=>null);if(r===null)throw new e(`NETWORK`);let i=await r.text().catch(()=>null);if(i===null)throw new e(`NETWORK`);return yt(r.status,i,r.headers.get(`retry-after`))}function yt(t,n,r){if(t===204)return{};let i=bt(n);if(t<300&&i!==null)return i;let{code:a,period:o,message:s,details:c}=i??{};a===`PROXY_SIGNATURE_INVALID`&&console.error(`drape-try-on:`,s,c);let l=Number(r??NaN);throw new e(typeof a==`string`?a:t>=500?`SERVICE_UNAVAILABLE`:`UNEXPECTED`,{status:t,retrySeconds:Number.isFinite(l)?l:null,period:typeof o==`string`?o:null})}function bt(e){try{let t=JSON.parse(e);return typeof t==`object`?t:null}catch{return null}}let Q=3e4;function xt({method:t,url:n,headers:r,body:i,onProgress:a,signal:o}){let s=new XMLHttpRequest;return new Promise((c,l)=>{let u=()=>l(new e(`NETWORK`)),d=()=>s.abort(),f=setTimeout(d,Q);s.upload.onprogress=({loaded:e,total:t,lengthComputable:n})=>{clearTimeout(f),f=setTimeout(d,Q),n&&a(e/t)},s.onerror=u,s.onabort=u,s.onload=()=>{if(s.responseURL!==new URL(n,document.baseURI).href)return u();try{c(yt(s.status,s.responseText,s.getResponseHeader(`retry-after`)))}catch(e){l(e)}},s.onloadend=()=>{clearTimeout(f),o.removeEventListener(`abort`,d)},o.addEventListener(`abort`,d),s.open(t,n);for(let[e,t]of Object.entries(r))s.setRequestHeader(e,t);s.send(i)})}function St(e){return{photo:e,link:null,isSent:!1,imageId:e.imageId,key:w(),jobId:null}}async function Ct(n,r){n.jobId===null?(await r.consent.settle(()=>r.shop.nameVisitor(r.solve)),n.imageId??=await wt(n,r),n.jobId=await Dt(n,n.imageId,r),xe(r.settings,n.jobId)):r.onWaiting(`PROCESSING`,!1);let i=await kt(n.jobId,r).catch(t);if(!(i instanceof e)&&i.resultImageUrl!==void 0)return i;let a=i instanceof e?i:new e(i.errorCode??`RESULT_GONE`,{appealUrl:i.appealUrl});throw i instanceof e&&i.code!==`GENERATION_NOT_FOUND`||(P(r.settings),Object.assign(n,{jobId:null,key:w()})),a}async function wt(e,n){let r=Date.now(),{track:i}=n;n.onSending(0);try{await n.shop.nameVisitor(n.solve);let{fileId:t}=await(n.settings.onlyProxy?Tt:Et)(e,n);return i(`widget:image_upload_success`,{duration_ms:Date.now()-r}),de(e.photo,t),t}catch(e){throw i(`widget:image_upload_error`,{code:t(e).code}),e}}function Tt({photo:e},{shop:t,onSending:n,signal:r}){let i=new FormData;return i.set(`file`,e.file??``),xt({method:`POST`,url:t.uploadUrl,headers:t.headers,body:i,onProgress:n,signal:r})}async function Et(e,t){let{shop:n,onSending:r,signal:i}=t;try{e.link??=await n.prepareUpload();let{uploadUrl:t,uploadKey:a}=e.link,o=e.photo.file??new Blob;return e.isSent||await xt({method:`PUT`,url:t,headers:{},body:o,onProgress:r,signal:i}),e.isSent=!0,r(1),await n.completeUpload(a)}catch(t){throw Ot(t)&&Object.assign(e,{link:null,isSent:!1}),t}}async function Dt(e,n,{shop:r,track:i,onWaiting:a}){a(`PENDING`,!1);try{let{jobId:t}=await r.enterFittingRoom(n,e.key);return i(`widget:generation_start`,{generation_id:t}),t}catch(n){throw Ot(n)&&(e.key=w()),t(n).code===`IMAGE_NOT_FOUND`&&(fe(),Object.assign(e,{imageId:null,link:null,isSent:!1})),n}}function Ot(e){let{code:n,status:r}=t(e);return r>=400&&r<500&&n!==`IDEMPOTENCY_KEY_IN_USE`}async function kt(n,{shop:r,signal:i,onWaiting:a}){for(let o=0;;){if(i.aborted)throw new e(`NETWORK`);let s=await r.findGeneration(n).catch(e=>t(e));if(s instanceof e){if(!(s.code===`NETWORK`||s.status>=500||s.status===429)||++o>=8)throw s;a(`PROCESSING`,!0)}else{if(o=0,s.status===`COMPLETED`||s.status===`FAILED`)return s;a(s.status,!1)}await new Promise(e=>setTimeout(e,2e3))}}function At({shop:e,settings:n,track:r,consent:i,solve:a,onStep:o}){let s={name:`photo`},c=null,l=new AbortController,u=e=>{s.name===`camera`&&(e.name!==`camera`||e.video!==s.video)&&W(s.video),s=e,o(s)};async function d(o,{signal:s}){let{photo:c}=o,l=e=>s.aborted||u(e);try{let{generationId:t,resultImageUrl:d}=await Ct(o,{shop:e,settings:n,track:r,consent:i,solve:a,signal:s,onSending:e=>l({name:`sending`,photo:c,part:e}),onWaiting:(e,t)=>l({name:`waiting`,photo:c,status:e,isOffline:t})});if(s.aborted)return;let{product:f,title:p}=n,m={generationId:t,resultImageUrl:d??``,product:f,title:p};ve(m),u({name:`done`,result:m})}catch(e){l({name:`failed`,failure:Nt(c,t(e)),photo:c})}}async function f(){if(c===null)return u({name:`photo`});if(s.name===`sending`||s.name===`waiting`)return;l.abort(),l=new AbortController;let{photo:e,imageId:t,jobId:n}=c;u(t===null?{name:`sending`,photo:e,part:0}:{name:`waiting`,photo:e,status:n===null?`PENDING`:`PROCESSING`,isOffline:!1}),await d(c,l)}let p={current:()=>s,enter:u};async function m(e,t){r(`widget:image_upload`,{source:t,bytes:e.size,type:e.type});let n=await jt(e,{...p,track:r});n!==null&&(c=St(n),u({name:`ready`,photo:n,source:t}))}function h(){l.abort(),c=null,P(n),u({name:`photo`})}return{step:()=>s,recall:async()=>{let e=s.name===`photo`?await me():null;if(e!==null&&s.name===`photo`){if(c=St(e),c.jobId=Se(n),c.jobId===null)return u({name:`ready`,photo:e,source:`memory`});await f()}},choose:m,openCamera:()=>Mt(p),shoot:async()=>{s.name===`camera`&&s.video!==null&&await m(await Le(s.video),`camera`)},leaveCamera:()=>{s.name===`camera`&&u({name:`photo`})},look:e=>{l.abort(),u({name:`done`,result:e})},start:f,restart:h,review:()=>{if(i.forget(),c===null)return u({name:`photo`});u({name:`ready`,photo:c.photo,source:`file`})},withdraw:async()=>{l.abort(),await i.withdraw(),h()},clear:h,stop:()=>{l.abort(),s.name===`camera`&&W(s.video)}}}async function jt(n,{current:r,enter:i,track:a}){let o=r(),s=await se(n).catch(t);return s instanceof e&&a(`widget:image_upload_error`,{code:s.code}),r()===o?s instanceof e?(i({name:`failed`,failure:s,photo:null}),null):s:null}async function Mt({current:n,enter:r}){let i=e=>r({name:`failed`,failure:e,photo:null}),a={name:`camera`,video:null};r(a);let o=await Fe().catch(t);if(n()!==a)return o instanceof e?void 0:W(o);if(o instanceof e)return i(o);let s={name:`camera`,video:o};Ie(o,()=>n()===s&&i(new e(`CAMERA_FAILED`))),r(s)}function Nt(t,n){return(n.code===`INVALID_IMAGE`||n.code===`NO_PERSON_DETECTED`)&&ce(t)?new e(`IMAGE_TOO_SMALL`,n):n}function Pt(e){let t=/* @__PURE__ */ new Set,n=n=>{let r=t.delete(n.code),i=n.type===`keyup`?r:e.open&&Ft(e,n);i&&n.type!==`keyup`&&t.add(n.code),i&&n.stopImmediatePropagation()},r=[`keydown`,`keypress`,`keyup`];for(let e of r)addEventListener(e,n,!0);return()=>{for(let e of r)removeEventListener(e,n,!0)}}function Ft(e,t){return t.composedPath().includes(e)||t.target===document.body}function It(t){let{host:n,settings:r,shop:i,track:a}=t,o=()=>{let n=t.step();if(n.name!==`done`)throw new e(`UNEXPECTED`);return n.result},s=()=>({generation_id:o().generationId});return{share:()=>(a(`widget:share_clicked`,s()),i.share(o().generationId)),download:async()=>{a(`widget:download_clicked`,s());let{generationId:e,resultImageUrl:t,title:n}=o(),r=await i.findGeneration(e);Rt(i.downloadUrl(r.resultImageUrl??t,n))},addToCart:async e=>{a(`widget:add_to_cart_clicked`,s());let n=await zt(t,{generationId:o().generationId,size:e});return a(n?`widget:add_to_cart_success`:`widget:add_to_cart_error`,s()),n},chosenSize:()=>Lt(r.sizes,n.getAttribute(`size`))??Lt(r.sizes,r.variant),chooseSize:e=>{n.setAttribute(`size`,e.title);let t={product:r.product,variant:e.variant,size:e.title};n.dispatchEvent(new CustomEvent(`drape-size`,{bubbles:!0,composed:!0,detail:t}))},leaveEmail:(e,t)=>{a(`widget:email_collected`,{...s(),marketing_consent:t}),i.leaveEmail(e,t).catch(()=>{})}}}function Lt(e,t){let n=e=>e?.split(`/`).pop();return e.find(e=>!e.isSoldOut&&(e.title===t||n(e.variant)===n(t)))??null}function Rt(e){let t=I(`a`,{href:e,download:!0});document.body.append(t),t.click(),t.remove()}async function zt({host:e,settings:t,clientId:n},{generationId:r,size:i}){let a=[],o={product:t.product,variant:i?.variant??t.variant,size:i?.title??null,generationId:r,attributes:{_drape_anonymous_id:t.publishableKey===null?n:`anon_${n}`},waitUntil:e=>void a.push(e)};e.dispatchEvent(new CustomEvent(`drape-add-to-cart`,{bubbles:!0,composed:!0,detail:o}));let s=await Promise.allSettled(a);return s.length>0&&s.every(({status:e})=>e===`fulfilled`)}let $=`drape-erased`;function Bt(e,{settings:n,language:r}){let i=re(n.hasAnalytics),a=Wt(r,g),{track:o,stop:s}=ct(n,i,()=>!a.element.hidden),c=_t({settings:n,clientId:i.clientId,track:o}),l=we({shop:c,tag:r.tag}),u=At({shop:c,settings:n,track:o,consent:l,solve:()=>Vt(e),onStep:m}),d=nt({language:r,settings:n,shop:c,consent:l,actions:{...It({host:e,settings:n,shop:c,track:o,clientId:i.clientId,step:u.step}),...u,withdraw:_},complain:e=>d.show({name:`failed`,failure:t(e),photo:null}),onClose:()=>{o(`widget:modal_close`,{step:u.step().name}),u.leaveCamera()}}),f=Pt(d.element),p=/* @__PURE__ */ new Set;function m(t){a.show(t),d.show(t),h(t),e.dispatchEvent(new CustomEvent(`drape-step`,{bubbles:!0,composed:!0,detail:{step:t.name}}))}function h(e){if(e.name!==`done`||!d.element.open||p.has(e.result.generationId))return;let t={generation_id:e.result.generationId};p.add(t.generation_id),o(`widget:result_view`,t),n.hasEmail&&o(`widget:email_prompt_view`,t)}function g(){o(`widget:button_click`),d.show(u.step()),d.open(),h(u.step()),u.recall()}async function _(){await u.withdraw(),dispatchEvent(new Event($))}let v=()=>void Ut(u),y=()=>document.hidden&&u.leaveCamera();addEventListener(`online`,v),addEventListener($,u.clear),document.addEventListener(`visibilitychange`,y),Gt(1500,c.checkCredits()).then(a.reveal);let b=Kt(a.element,()=>o(`widget:button_view`));return document.querySelector(e.localName)===e&&o(`product_page:page_view`),{elements:[a.element,d.element],track:o,open:g,stop:()=>{removeEventListener(`online`,v),removeEventListener($,u.clear),document.removeEventListener(`visibilitychange`,y),f(),b.disconnect(),u.stop(),s()}}}async function Vt(e){let t=null;return e.dispatchEvent(new CustomEvent(`drape-captcha`,{bubbles:!0,composed:!0,detail:{answer:e=>{t=e}}})),t}let Ht=[0,1e3,4e3];async function Ut(e){for(let t of Ht){await new Promise(e=>setTimeout(e,t));let n=e.step();if(n.name!==`failed`||n.failure.code!==`NETWORK`)return;await e.start()}}function Wt({texts:e,tag:t,direction:n},r){let i=document.createTextNode(e.button),a=R(``,r,{looks:`button`,symbol:L(`hanger`)});return a.append(i),a.lang=t,a.dir=n,a.dataset.waiting=``,{element:a,show:({name:t})=>{a.dataset.step=t,i.data=t===`sending`||t===`waiting`?e.buttonWorking:t===`done`?e.buttonDone:e.button},reveal:({allowed:e})=>{a.hidden=!e,delete a.dataset.waiting}}}function Gt(e,t){let n={allowed:!0},r=new Promise(t=>setTimeout(t,e,n));return Promise.race([t.catch(()=>n),r])}function Kt(e,t){let n=new IntersectionObserver(r=>{r.some(({isIntersecting:e})=>e)&&!e.hidden&&(n.disconnect(),t())});return n.observe(e),n}function qt(e){let t=new CSSStyleSheet;t.replaceSync(d);let n=g();return class extends HTMLElement{static observedAttributes=o;#e=Promise.resolve(null);#t=!1;connectedCallback(){this.#n()}disconnectedCallback(){this.#n()}attributeChangedCallback(){this.#n()}open(){this.#e.then(e=>a(()=>e?.open()))}track(e,t){this.#e.then(n=>a(()=>n?.track(e,t)))}#n(){this.#t||(this.#t=!0,this.#e=Promise.all([this.#e,Jt()]).then(([e])=>(this.#t=!1,e?.stop(),this.#r())).catch(e=>(console.warn(`drape-try-on:`,e),null)))}async#r(){let r=this.shadowRoot??this.attachShadow({mode:`open`});r.adoptedStyleSheets=[t],r.replaceChildren();let i=s(this,e);if(!this.isConnected||i.product===``)return null;if(i.proxy===null)throw Error(`it needs a proxy of the shop: <drape-try-on proxy="/apps/drape" …>`);let a=await v(this,i.proxy,n);if(this.#t)return null;let o=Bt(this,{settings:i,language:a});return r.append(...o.elements),o}}}async function Jt(){document.readyState===`loading`&&await new Promise(e=>document.addEventListener(`DOMContentLoaded`,e,{once:!0}))}let Yt=`drape-try-on`,Xt=document.currentScript instanceof HTMLScriptElement?document.currentScript.src:null;a(()=>{customElements.get(Yt)||customElements.define(Yt,qt(Xt))})})();