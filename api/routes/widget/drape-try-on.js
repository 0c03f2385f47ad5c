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
`,f={BILLING_NOT_ALLOWED:`QUOTA_EXCEEDED`,CAPTCHA_REQUIRED:`VISITOR_TOKEN_REQUIRED`,CONSENT_POLICY_UNKNOWN:`CONSENT_OUTDATED`,FORBIDDEN:`RESULT_GONE`,GENERATION_CANCELLED:`GENERATION_FAILED`,GENERATION_NOT_COMPLETED:`RESULT_GONE`,GENERATION_NOT_FOUND:`RESULT_GONE`,IDEMPOTENCY_KEY_IN_USE:`SERVICE_UNAVAILABLE`,MISSING_REQUIRED_CLASSIFICATION:`PRODUCT_NOT_FOUND`,PROXY_SIGNATURE_INVALID:`QUOTA_EXCEEDED`,RATE_LIMITED:`RATE_LIMIT_EXCEEDED`,SHARE_LINK_GONE:`RESULT_GONE`},p={button:`Try it on`,buttonWorking:`Making your picture…`,buttonDone:`See your picture`,title:`Try it on`,close:`Close`,photoHeading:`Start with a photo of yourself`,photoHint:`Face the camera, upper body in view, in good light. One person only.`,choose:`Choose a photo`,camera:`Take a photo`,cameraHeading:`Take a photo of yourself`,cameraHint:`Stand back until your upper body is in the picture. The photo stays on your device until you send it.`,cameraWaiting:`Allow the camera if your browser asks`,shoot:`Take the photo`,retake:`Take it again`,back:`Back`,drop:`You can also drop it here`,readyHeading:`Your photo`,rememberedHeading:`Use the same photo again?`,previewAlt:`The photo you have chosen`,noPreview:`Your browser cannot show this photo, but you can use it.`,consent:`Your photo is sent to our fitting room to make this picture, and deleted automatically after a few days.`,consentMissing:`Please tick the box first.`,withdraw:`Withdraw consent and delete my photos`,withdrawn:`Your consent is withdrawn. Your photos and pictures are deleted.`,erase:`Delete my photos and pictures`,erased:`Your photos and pictures are deleted.`,privacy:`Privacy`,start:`Try it on`,another:`Another photo`,workHeading:`One moment, please`,sending:`Sending your photo`,waiting:`Waiting for a free fitting room`,making:`Making your picture`,offline:`Connection lost. We will continue as soon as it is back.`,stay:`You can close this and keep shopping. We will keep working.`,doneHeading:`Here you are`,resultAlt:`You, wearing: {product}`,resultAltPlain:`You, wearing the product`,note:`Software made this picture. It is not a prediction of fit: it cannot show which size suits you.`,earlier:`Your pictures`,pictureGone:`The picture cannot be shown here. Download it instead.`,share:`Share`,download:`Download`,size:`Size`,sizeMissing:`Please choose a size first.`,soldOut:`{size}, sold out`,cart:`Add to cart`,cartAdded:`It is in your cart.`,cartFailed:`The product could not be added to your cart. Please use the button of the shop.`,shareLink:`Link to your picture`,copy:`Copy`,copied:`The link is copied.`,shareUntil:`Anyone with the link can see the picture until {date}.`,emailHeading:`Be the first to hear about new products`,email:`E-mail address`,emailConsent:`Yes, the shop may send me news and offers`,emailSend:`Send`,emailThanks:`Thank you.`,emailInvalid:`Please check the address.`,errorHeading:`That did not work`,retry:`Try again`,appeal:`Ask for a review`,errors:{NETWORK:`No connection to the shop. Your photo is still here, nothing is lost.`,CAMERA_DENIED:`The browser does not allow the camera. Allow it in the settings of this page, or choose a photo instead.`,CAMERA_MISSING:`No camera was found. Please choose a photo instead.`,CAMERA_FAILED:`The camera does not start. Another program may be using it. Please choose a photo instead.`,NO_PERSON_DETECTED:`We cannot find a person in the photo. One that shows you from the front works best.`,IMAGE_TOO_SMALL:`The photo is too small or too narrow. Please choose a larger one.`,INVALID_IMAGE:`This file is damaged or is not a photo.`,UNSUPPORTED_IMAGE_TYPE:`Please use a photo in one of these formats: JPEG, PNG, WebP or HEIC.`,FILE_TOO_LARGE:`The photo is larger than 10 MB. Please choose a smaller one.`,IMAGE_NOT_FOUND:`The photo has been deleted. Please add it again.`,UPLOAD_NOT_FOUND:`The photo did not arrive in time. Please send it again.`,CONSENT_REQUIRED:`We need your consent before we can use your photo.`,CONSENT_OUTDATED:`The text that you agreed to has changed. Please read it again.`,VISITOR_TOKEN_REQUIRED:`We could not check that you are not a robot. Please reload the page and try again.`,QUOTA_EXCEEDED:`The fitting room of this shop is closed for now. Please come back later.`,RATE_LIMIT_EXCEEDED:`That was a lot at once. Please try again in {minutes} min.`,DAY_EXCEEDED:`All try-ons for today have been used. New ones are available tomorrow.`,WEEK_EXCEEDED:`You have used all your try-ons for this week. You get new ones on Monday.`,PRODUCT_NOT_FOUND:`This product cannot be tried on yet.`,PRODUCT_IMAGE_FETCH_FAILED:`This product cannot be tried on yet because its picture is missing.`,GENERATION_FAILED:`The picture could not be made. Please try again; another photo may help.`,GENERATION_TIMEOUT:`It took too long, so we stopped. Please try again.`,RESULT_REJECTED:`The picture did not turn out well, so we do not show it. Another photo may help.`,NUDITY_DETECTED:`This image shows too much skin for this shop. Please use another photo.`,EXPOSURE_NOT_ALLOWED:`This shop cannot use photos in underwear or swimwear. Please use another one.`,IMAGE_LISTED:`This image cannot be used in this shop. Please use another one.`,SEVERAL_PEOPLE:`There are several people in the photo. Please use one that shows only you.`,AGE_REVIEW:`We cannot tell whether the photo shows an adult. Please ask for a review by a person, or use another photo.`,SAFETY_UNAVAILABLE:`We could not check the photo. Please try again later.`,RESULT_GONE:`The picture has been deleted. You can make a new one.`,SERVICE_UNAVAILABLE:`The fitting room is taking a short break. Please try again in a moment.`,UNEXPECTED:`Something went wrong on our side. Please try again.`}};let m=[`ar`,`de`,`es`,`fr`,`it`,`pl`,`pt`],h=/^(ar|ckb|dv|fa|he|iw|ps|sd|ug|ur|yi)\b/;function g(){let e=/* @__PURE__ */ new Map;return(t,n)=>{let r=`${n}/widget/${t}.json`,i=e.get(r)??_(r).catch(()=>(e.delete(r),{}));return e.set(r,i),i}}async function _(e){let t=await fetch(e,{signal:AbortSignal.timeout(4e3)});if(!t.ok)throw Error(`${e}: ${t.status}`);return await t.json()}async function v(e,t,n){let r=b(e.closest(`[lang]`)?.getAttribute(`lang`)??``),i=r.split(`-`)[0],a=m.includes(i)?await n(i,t):{},{errors:o,...s}=ee(e),c=e.getAttribute(`label`),l={...p,...a,...s,...c&&{button:c},errors:{...p.errors,...a.errors,...o}};return i===`en`||Object.keys(a).length>0||Object.keys(s).length>0?{tag:r,direction:h.test(r)?`rtl`:`ltr`,texts:l}:{...y,texts:l}}let y={tag:`en`,direction:`ltr`};function b(e){try{return Intl.getCanonicalLocales(e.trim().replaceAll(`_`,`-`))[0]??`en`}catch{return`en`}}function ee(e){let t=e.querySelector(`script[type="application/json"]`)?.textContent;if(!t)return{};try{return JSON.parse(t)}catch{return console.warn(`drape-try-on: the texts in the element are not JSON`),{}}}function x(e,t){return e.replace(/\{(\w+)\}/g,(e,n)=>t[n]??e)}let te=f;function S(e,{errors:t}){let n=e.period===null?e.code:`${e.period.toUpperCase()}_EXCEEDED`,r=Math.max(1,Math.ceil((e.retrySeconds??60)/60));return x(t[n]??t[te[n]]??t.UNEXPECTED,{minutes:String(r)})}function ne(e){let t=(t,n)=>{let r=e?w(t,n):null,i=r!==null&&re.test(r)?r:C();return e&&i!==r&&T(t,n,i),i};return{clientId:t(()=>localStorage,`drape:client`),sessionId:`sess_${t(()=>sessionStorage,`drape:session`)}`,pageviewId:ie.idOf(location.href)}}let re=/^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/,ie=ae();function ae(){let e={href:``,id:``};return{idOf:t=>(e.href!==t&&(e={href:t,id:C()}),e.id)}}function C(){let e=crypto.getRandomValues(/* @__PURE__ */ new Uint8Array(16));return e[6]=e[6]&15|64,e[8]=e[8]&63|128,[...e].map(e=>e.toString(16).padStart(2,`0`)).join(``).replace(/^(.{8})(.{4})(.{4})(.{4})/,`$1-$2-$3-$4-`)}function w(e,t){try{return e().getItem(t)}catch{return null}}function T(e,t,n){try{n===``?e().removeItem(t):e().setItem(t,n)}catch{}}let E=10485760;async function oe(t){if(t.type!==``&&!t.type.startsWith(`image/`))throw new e(`UNSUPPORTED_IMAGE_TYPE`);let n=await createImageBitmap(t).catch(()=>null),{short:r,long:i}=ce(n);if(n&&(r<16||i>10*r))throw new e(`IMAGE_TOO_SMALL`);if(!(t.size>E||i>12e3||r*i>5e7))return{file:t,imageId:null,bitmap:n};if(n===null)throw new e(`FILE_TOO_LARGE`);return{file:await ue(n,3e3),imageId:null,bitmap:n}}function se({bitmap:e}){return e!==null&&ce(e).short<200}function ce(e){let{width:t,height:n}=e??{width:0,height:0};return{short:Math.min(t,n),long:Math.max(t,n)}}function le(e,t){let n=D(e,1e3);return n.setAttribute(`role`,`img`),n.setAttribute(`aria-label`,t),n}function D(e,t){let n=Math.min(1,t/Math.max(e.width,e.height)),r=document.createElement(`canvas`);return r.width=Math.round(e.width*n),r.height=Math.round(e.height*n),r.getContext(`2d`)?.drawImage(e,0,0,r.width,r.height),r}async function ue(t,n){let r=await new Promise(e=>D(t,n).toBlob(e,`image/jpeg`,.92));if(r===null||r.size>E)throw new e(`FILE_TOO_LARGE`);return r}let O=`drape:photo`;function de({bitmap:e},t){let n=e&&D(e,320).toDataURL(`image/jpeg`,.8);T(()=>sessionStorage,O,JSON.stringify({imageId:t,thumbnail:n}))}function fe(){T(()=>sessionStorage,O,``)}function pe(){return w(()=>sessionStorage,O)!==null}async function me(){try{let{imageId:e,thumbnail:t}=JSON.parse(w(()=>sessionStorage,O)??`{}`);return typeof e==`string`?{file:null,imageId:e,bitmap:typeof t==`string`?await he(t):null}:null}catch{return null}}function he(e){let t=Uint8Array.from(atob(e.slice(e.indexOf(`,`)+1)),e=>e.charCodeAt(0));return createImageBitmap(new Blob([t],{type:`image/jpeg`}))}let k=`drape:results`;function A(){try{let e=JSON.parse(w(()=>sessionStorage,k)??`[]`);return Array.isArray(e)?e.filter(ge):[]}catch{return[]}}function ge(e){return[e?.generationId,e?.resultImageUrl,e?.product,e?.title].every(e=>typeof e==`string`)}function _e(e){j([e,...A().filter(({generationId:t})=>t!==e.generationId)].slice(0,12))}function ve(e){j(A().filter(({generationId:t})=>t!==e))}function ye(){j([])}function j(e){T(()=>sessionStorage,k,e.length===0?``:JSON.stringify(e))}let M=`drape:wish:`;function be(e,t){T(()=>sessionStorage,P(e),t)}function xe(e){return w(()=>sessionStorage,P(e))}function N(e){T(()=>sessionStorage,P(e),``)}function Se(){a(()=>{for(let e of Object.keys(sessionStorage))e.startsWith(M)&&sessionStorage.removeItem(e)})}function P({product:e,variant:t}){return`${M}${t??e}`}function Ce({shop:e,tag:t}){let n=null,r=null,i=()=>{n=null,r=null};return{load:()=>(n??=e.findConsent(t).catch(()=>(n=null,null)),n),agree:e=>{r=e},settle:async t=>{if(r===null)return;await t();let{at:i}=await e.giveConsent(r);n=Promise.resolve({...r,givenAt:i}),r=null},forget:i,withdraw:async()=>{await e.withdrawConsent(),fe(),ye(),Se(),i()}}}function F(e,t={},...n){let r=document.createElement(e);for(let[e,n]of Object.entries(t))typeof n==`function`?r.addEventListener(e,n):n!==!1&&n!==null&&r.setAttribute(e,n===!0?``:String(n));return r.append(...n.filter(e=>e!==null)),r}let we={check:`M5 12.500 10 17.500 19 7`,hanger:`M12 8.5V7.2a2.1 2.1 0 1 0-2.1-2.1M12 8.5 2.9 15a1.4 1.4 0 0 0 .8 2.5h16.6a1.4 1.4 0 0 0 .8-2.5z`,close:`M6 6l12 12M18 6 6 18`,person:`M12 10.2a3.6 3.6 0 1 0 0-7.2 3.6 3.6 0 0 0 0 7.2zM3.500 24v-3.500c0-4.200 3.800-7.300 8.500-7.300s8.500 3.100 8.500 7.300V24`,photo:`M4 7.5h3.2L8.8 5h6.4l1.6 2.5H20v11H4zM12 16.2a3.4 3.4 0 1 0 0-6.8 3.4 3.4 0 0 0 0 6.8z`,upload:`M12 15.5V4.5M7.5 8.5 12 4l4.500 4.500M4.500 15.500v4h15v-4`,share:`M12 14.500V3.500M8 7l4-4 4 4M6 11H4.500v9.500h15V11H18`,download:`M12 3.500v11M7.500 10.500 12 15l4.500-4.500M4.500 19.500h15`,warning:`M12 8.500v5M12 16.600v.1M12 3.500 2.500 20h19z`};function I(e){let t=document.createElementNS(`http://www.w3.org/2000/svg`,`svg`);for(let[e,n]of Object.entries({viewBox:`0 0 24 24`,"aria-hidden":`true`,class:`icon`}))t.setAttribute(e,n);let n=document.createElementNS(t.namespaceURI,`path`);return n.setAttribute(`d`,we[e]),t.append(n),t}function L(e,t,{looks:n,symbol:r=null}){return F(`button`,{type:`button`,class:n,part:n,click:t},r,e)}function Te(e){let{consent:t,texts:n,announce:r}=e,i=F(`input`,{type:`checkbox`,id:`consent`,required:!0}),a=F(`p`,{class:`warning small`,id:`consent-problem`,hidden:!0},n.consentMissing),o=F(`div`,{class:`stack`,part:`consent`}),s=t.load();return s.then(t=>{o.append(...R(t)?[Oe(t,i),a]:[ke(n)],Ae(t,e)),o.dataset.loaded=``}),i.addEventListener(`change`,()=>{a.hidden=i.checked,i.setAttribute(`aria-invalid`,String(!i.checked))}),{element:o,check:async()=>{let e=await s;return R(e)?i.checked?(t.agree(e),!0):(a.hidden=!1,i.setAttribute(`aria-invalid`,`true`),i.setAttribute(`aria-describedby`,a.id),r(n.consentMissing),i.focus(),!1):!0}}}function Ee({consent:e,texts:t,withdraw:n}){let r=F(`div`,{class:`stack`});return e.load().then(e=>{let i=e?.givenAt?t.withdraw:De()?t.erase:null;i!==null&&r.append(L(i,()=>n(e?.givenAt?t.withdrawn:t.erased),{looks:`plain`}))}),r}function De(){return pe()||A().length>0}function R(e){return e?.required===!0&&e.givenAt===null}function Oe({text:e,language:t},n){return F(`label`,{class:`choice`,lang:t},n,F(`span`,{},e))}function ke(e){return F(`p`,{class:`soft small`},e.consent)}function Ae(e,{settings:t,texts:n}){let r=t.privacyUrl??e?.privacyUrl;return F(`p`,{class:`small`},r&&F(`a`,{href:r,target:`_blank`,rel:`noopener`,part:`privacy`},n.privacy)||null)}function z(n,{alt:r,texts:i,shop:a,onlyProxy:o}){let s=e=>o?[a.downloadUrl(e)]:[e,a.downloadUrl(e)],c=F(`img`,{alt:r}),l=s(n.resultImageUrl),u=!1,d=async()=>{if(l.length===0&&!u){u=!0;let r=await a.findGeneration(n.generationId).catch(t),i=r instanceof e?void 0:r.resultImageUrl;(r instanceof e?r.code===`GENERATION_NOT_FOUND`:i===void 0)&&ve(n.generationId),l=i===void 0?[]:s(i)}let r=l.shift();r===void 0?c.replaceWith(F(`p`,{class:`figure small`},i.pictureGone)):c.src=r};return c.addEventListener(`error`,()=>void d()),d(),c}function je(e,t,n){if(e.every(({generationId:e})=>e===t))return[];let{texts:r,look:i}=n,a=e.map(e=>F(`li`,{},F(`button`,{type:`button`,"aria-current":e.generationId===t?`true`:null,click:()=>i(e)},z(e,{...n,alt:B(e,r)}))));return[F(`section`,{class:`earlier`,part:`earlier`},F(`h3`,{id:`earlier`},r.earlier),F(`ul`,{"aria-labelledby":`earlier`},...a))]}function B({title:e},t){return e===``?t.resultAltPlain:x(t.resultAlt,{product:e})}function V(){let{featurePolicy:e}=document;return!!navigator.mediaDevices?.getUserMedia&&e?.allowsFeature(`camera`)!==!1}async function Me(){return V()?(await navigator.mediaDevices.enumerateDevices().catch(()=>[])).some(({kind:e})=>e===`videoinput`):!1}let Ne={NotAllowedError:`CAMERA_DENIED`,NotFoundError:`CAMERA_MISSING`,OverconstrainedError:`CAMERA_MISSING`},H={ideal:1920};async function Pe(){let t=F(`video`,{playsinline:!0});t.muted=!0;try{return t.srcObject=await navigator.mediaDevices.getUserMedia({audio:!1,video:{facingMode:`user`,width:H,height:H}}),await t.play(),t}catch(n){throw U(t),new e(Ne[n.name]??`CAMERA_FAILED`)}}function U(e){for(let t of W(e))t.stop();e&&(e.srcObject=null)}function Fe(e,t){for(let n of W(e))n.addEventListener(`ended`,t)}function W(e){return e?.srcObject instanceof MediaStream?e.srcObject.getTracks():[]}async function Ie(t){let n=F(`canvas`,{width:t.videoWidth,height:t.videoHeight});n.getContext(`2d`)?.drawImage(t,0,0);let r=await new Promise(e=>n.toBlob(e,`image/jpeg`,.92));if(r===null)throw new e(`CAMERA_FAILED`);return r}function Le(e,t){let n=Re(e,t);return[K(e.photoHeading),F(`p`,{class:`soft`},e.photoHint),F(`div`,{class:`stack`},...G(e,t),...n)]}function G(e,{choose:t}){let n=q(`file`,t),r=L(e.choose,()=>n.click(),{looks:`primary`,symbol:I(`upload`)});return r.dataset.focus=``,[r,n]}function Re(e,{choose:t,openCamera:n}){let r=matchMedia(`(pointer: coarse)`).matches,i=q(`camera`,t),a=V()?n:()=>i.click(),o=L(e.camera,a,{looks:`secondary`,symbol:I(`photo`)});return o.hidden=!r,r||Me().then(e=>{o.hidden=!e}),[o,i]}function ze(e,{choose:t}){if(!matchMedia(`(pointer: coarse)`).matches)return[];let n=q(`camera`,t);return[L(e.camera,()=>n.click(),{looks:`secondary`,symbol:I(`photo`)}),n]}function Be({video:e},{texts:t,actions:n}){let r=async()=>{i.disabled=!0,await n.shoot().catch(()=>{i.disabled=!1})},i=L(t.shoot,()=>void r(),{looks:`primary`,symbol:I(`photo`)}),a=L(t.back,n.leaveCamera,{looks:`secondary`}),o=e===null;return i.disabled=o,(o?a:i).dataset.focus=``,[K(t.cameraHeading),F(`p`,{class:`soft`},o?t.cameraWaiting:t.cameraHint),F(`div`,{class:`stack`},i,a)]}function Ve(e,{texts:t,actions:n,consenting:r}){let i=Te(r),a=async()=>{await i.check()&&n.start()},o=L(t.start,()=>void a(),{looks:`primary`,symbol:I(`hanger`)});o.dataset.focus=``;let s=L(t.retake,n.openCamera,{looks:`secondary`,symbol:I(`photo`)});return[K(e.source===`memory`?t.rememberedHeading:t.readyHeading),i.element,F(`div`,{class:`stack`},o,e.source===`camera`&&V()?s:null,L(t.another,n.restart,{looks:`secondary`}))]}function K(e){return F(`h2`,{tabindex:-1,id:`heading`},e)}function q(e,t){let n=F(`input`,{type:`file`,accept:`image/*`,tabindex:-1,"aria-hidden":`true`,capture:e===`camera`?`user`:null,change:()=>{let[r]=n.files??[];r&&t(r,e)}});return n}function He(e,{texts:t,actions:n,close:r,language:a}){let o=(e,n=`primary`)=>L(t.retry,e,{looks:n}),s=e=>L(t.another,n.restart,{looks:e}),c={again:()=>[o(n.start),s(`secondary`)],photo:()=>[s(`primary`)],consent:()=>[o(n.review)],camera:()=>[...G(t,n),...ze(t,n),o(n.openCamera,`secondary`)],none:()=>[L(t.close,r,{looks:`primary`})]}[i(e)](),l=e=>F(`p`,{class:`small`},F(`a`,{href:`${e}?lang=${a}`,target:`_blank`,rel:`noopener`,part:`appeal`},t.appeal));return c[0].dataset.focus=``,[K(t.errorHeading),F(`p`,{class:`warning`,part:`error`},I(`warning`),F(`span`,{},S(e,t))),F(`div`,{class:`stack`},...c),...e.appealUrl===null?[]:[l(e.appealUrl)]]}function Ue(e,t){let n=[e.sending,e.waiting,e.making],r=F(`progress`,{max:1}),i=n.map(e=>F(`li`,{},F(`span`,{class:`mark`},I(`check`)),F(`span`,{},e))),a=F(`p`,{class:`warning`,hidden:!0},e.offline),o=null;return{elements:[K(e.workHeading),F(`ol`,{class:`stages`},...i),r,a,F(`p`,{class:`soft`},e.stay)],update:s=>{let c=We(s),l=n[c];for(let[e,t]of i.entries())t.dataset.state=e<c?`done`:e===c?`running`:`next`,e===c?t.setAttribute(`aria-current`,`step`):t.removeAttribute(`aria-current`);o!==l&&(r.setAttribute(`aria-label`,l),t(l)),o=l,s.name===`sending`&&s.part<1?r.value=s.part:r.removeAttribute(`value`);let u=s.name===`waiting`&&s.isOffline;u&&a.hidden&&t(e.offline),a.hidden=!u}}}function We(e){return e.name===`sending`?0:e.status===`PENDING`?1:2}function Ge(e){let{texts:t,sizes:n,actions:r,announce:i}=e,a=F(`p`,{class:`small`}),o=L(t.cart,()=>void l(),{looks:`primary`}),s=e=>{a.textContent=e,i(e)},c=Ke(e,()=>{a.textContent=``}),l=async()=>{let e=r.chosenSize();if(n.length>0&&e===null)return s(t.sizeMissing),c.querySelector(`input:enabled`)?.focus();o.disabled=!0;let i=await r.addToCart(e);o.disabled=!1,s(i?t.cartAdded:t.cartFailed)};return o.disabled=n.length>0&&n.every(({isSoldOut:e})=>e),F(`div`,{class:`stack`},n.length>0?c:null,o,a)}function Ke({texts:e,sizes:t,actions:n},r){let i=n.chosenSize(),a=t.map(t=>{let{title:a,isSoldOut:o}=t;return F(`label`,{class:`size`},F(`input`,{type:`radio`,name:`size`,"aria-label":o?x(e.soldOut,{size:a}):null,disabled:o,checked:t===i,change:()=>{n.chooseSize(t),r()}}),F(`span`,{},a))});return F(`fieldset`,{class:`sizes`,part:`sizes`},F(`legend`,{},e.size),F(`div`,{},...a))}function qe(e,{leave:t,announce:n}){let r=F(`input`,{type:`email`,id:`email`,autocomplete:`email`,placeholder:`name@example.com`}),i=F(`input`,{type:`checkbox`,id:`email-consent`}),a=F(`p`,{class:`warning small`,id:`email-problem`,hidden:!0},e.emailInvalid),o=L(e.emailSend,()=>{},{looks:`secondary`});o.type=`submit`;let s=F(`form`,{novalidate:!0,part:`email`,submit:o=>{o.preventDefault();let c=/^\S+@\S+\.\S+$/.test(r.value.trim());if(a.hidden=c,r.setAttribute(`aria-invalid`,String(!c)),!c)return r.setAttribute(`aria-describedby`,`email-problem`),n(e.emailInvalid),r.focus();t(r.value.trim(),i.checked);let l=F(`p`,{tabindex:-1},e.emailThanks);s.replaceChildren(l),l.focus()}},F(`h3`,{},F(`label`,{for:`email`},e.emailHeading)),F(`div`,{class:`field`},r,o),a,F(`label`,{class:`choice`},i,e.emailConsent));return r.setAttribute(`aria-label`,e.email),s}function Je(e,t){let{language:n,settings:r,actions:i,announce:a,complain:o}=t,{texts:s}=n,c=F(`div`,{class:`stack`}),l=L(s.share,()=>void Ye(e,{...t,place:c}).catch(o),{looks:`secondary`,symbol:I(`share`)}),u=L(s.download,()=>void i.download().catch(o),{looks:`secondary`,symbol:I(`download`)}),d=r.hasCart&&e.product===r.product;return[K(s.doneHeading),F(`p`,{class:`soft small`,part:`note`},s.note),...d?[Ge({texts:s,sizes:r.sizes,actions:i,announce:a})]:[],F(`div`,{class:`row`},l,u),c,...r.hasEmail?[qe(s,{leave:i.leaveEmail,announce:a})]:[],L(s.another,i.restart,{looks:`plain`})]}async function Ye({title:e},{place:t,actions:n,announce:r,language:i}){let a=await n.share();t.replaceChildren(Xe(a,i,r));let o={url:a.shareUrl,...e&&{title:e}};if(navigator.canShare?.(o))return navigator.share(o).catch(()=>{});t.querySelector(`input`)?.select()}function Xe(e,{texts:t,tag:n},r){let i=F(`input`,{readonly:!0,value:e.shareUrl,"aria-label":t.shareLink,type:`url`}),a=async()=>{i.select(),await navigator.clipboard?.writeText(e.shareUrl).catch(()=>document.execCommand(`copy`)),r(t.copied)},o=new Intl.DateTimeFormat(n,{dateStyle:`long`}).format(new Date(e.expiresAt));return F(`div`,{class:`sharing`,part:`share-link`},F(`div`,{class:`field`},i,L(t.copy,()=>void a(),{looks:`secondary`})),F(`p`,{class:`soft small`},x(t.shareUntil,{date:o})))}function Ze(e){let t=F(`div`,{class:`stage`,part:`picture`}),n=null;return{element:t,show:r=>{t.classList.toggle(`empty`,r.name===`photo`),t.classList.toggle(`working`,r.name===`sending`||r.name===`waiting`);let i=Qe(r);i!==n&&(n=i,t.replaceChildren($e(r,e)))}}}function Qe(e){return e.name===`done`?e.result.generationId:e.name===`camera`?e.video??e.name:e.name===`photo`?e.name:e.photo}function $e(e,t){let{texts:n,shop:r,settings:i}=t;if(e.name===`done`){let t=B(e.result,n);return z(e.result,{alt:t,texts:n,shop:r,onlyProxy:i.onlyProxy})}if(e.name===`camera`)return e.video??F(`div`,{class:`figure`},I(`photo`),F(`p`,{},n.cameraWaiting));let a=e.name===`photo`?null:e.photo;return a===null?F(`div`,{class:`figure guide`},I(`person`),F(`p`,{class:`small`},n.drop)):et(a,t)}function et({bitmap:e},{texts:t}){return e===null?F(`div`,{class:`figure`},I(`photo`),F(`p`,{},t.noPreview)):le(e,t.previewAlt)}function tt(e){let{language:t,settings:n,shop:r,actions:i,onClose:a}=e,{texts:o,tag:s,direction:c}=t,l=Ze({texts:o,...e}),u=F(`div`,{class:`panel`,part:`panel`}),d=F(`p`,{class:`unseen`,role:`status`}),f=F(`p`,{class:`unseen`,role:`alert`}),p=()=>g.close(),m=F(`button`,{type:`button`,class:`close`,part:`close`,"aria-label":o.close,click:p});m.append(I(`close`));let h=F(`div`,{class:`room`},l.element,u,m),g=F(`dialog`,{part:`dialog`,lang:s,dir:c,"aria-label":o.title,close:a},h,d,f);rt(g),it(g,l.element,i.choose);let _=e=>{d.textContent=e},v=Ue(o,_),y={texts:o,announce:_,...e,withdraw:t=>{i.withdraw().then(()=>_(t),e.complain)}},b=null;function ee(t){if(t.name===`failed`)return He(t.failure,{texts:o,actions:i,close:p,language:s});if(t.name===`camera`)return Be(t,{texts:o,actions:i});if(t.name===`sending`||t.name===`waiting`)return v.elements;let a=t.name===`done`?t.result.generationId:null,{onlyProxy:c}=n,l=[...je(A(),a,{texts:o,shop:r,onlyProxy:c,look:i.look}),Ee(y)];return t.name===`photo`?[...Le(o,i),...l]:t.name===`ready`?[...Ve(t,{texts:o,actions:i,consenting:y}),...l]:[...Je(t.result,{...e,announce:_}),...l]}function x(){g.open&&(u.querySelector(`[data-focus]`)??u.querySelector(`h2`))?.focus({preventScroll:!0})}return{element:g,show:e=>{l.show(e);let t=e.name===`sending`||e.name===`waiting`,r=!t||b!==`sending`&&b!==`waiting`;g.dataset.step=e.name,b=e.name,r&&u.replaceChildren(nt(n),...ee(e)),t&&v.update(e),e.name===`done`&&_(o.doneHeading),f.textContent=e.name===`failed`?S(e.failure,o):``,r&&x()},open:()=>{g.open||g.showModal(),x()}}}function nt({title:e,image:t}){let n=t===null?null:F(`img`,{src:t,alt:``});return F(`p`,{class:`product`,part:`product`,hidden:e===``&&t===null},n,e)}function rt(e){let t=null;e.addEventListener(`pointerdown`,({target:e})=>{t=e}),e.addEventListener(`click`,({target:n})=>{n===e&&t===e&&e.close()})}function it(e,t,n){let r=e=>n=>{n.preventDefault(),t.classList.toggle(`over`,e)};e.addEventListener(`dragover`,r(!0)),e.addEventListener(`dragleave`,r(!1)),e.addEventListener(`drop`,e=>{r(!1)(e);let[i]=e.dataTransfer?.files??[];i&&t.classList.contains(`empty`)&&n(i,`drop`)})}let J=`1.0.0`;function at({product:e,variant:t},n,r){return{...Y(),$referrer:document.referrer||null,$referring_domain:URL.canParse(document.referrer)?new URL(document.referrer).hostname:null,$session_id:n.sessionId,$pageview_id:n.pageviewId,service_client_id:n.clientId,service_widget_enabled:r,service_product_id:e||null,service_variant_id:t,service_lib_version:J}}function ot({product:e,variant:t},n,r){return{...Y(),anonymous_id:`anon_${n.clientId}`,session_id:n.sessionId,$pageview_id:n.pageviewId,widget_version:`wv_${J}`,widget_enabled:r,product_id:e||null,variant_id:t,integration:`widget`}}function Y(){return{$current_url:location.href,$pathname:location.pathname,$host:location.host,$screen_width:screen.width,$screen_height:screen.height,$viewport_width:innerWidth,$viewport_height:innerHeight,$raw_user_agent:navigator.userAgent,$browser_language:navigator.language,$timezone:Intl.DateTimeFormat().resolvedOptions().timeZone}}function st(e,t,n){let r=e.publishableKey===null?ut:dt,i=[],a,o=800,s=!1,c=0;async function l(){if(clearTimeout(a),a=void 0,s||i.length===0)return;s=!0;let l=i.splice(0,50),{outcome:d,retrySeconds:f}=await r(l,{settings:e,visit:t,isEnabled:n()}).catch(()=>ft);s=!1,c=d===`refused`?c+1:0;let p=d===`taken`||c>=3;o=p?800:Math.max(Math.min(o*4,6e4),f*1e3),p||(i=[...l,...i].slice(-200)),i.length>0&&u()}function u(){a??=setTimeout(l,o)}let d=()=>document.visibilityState===`hidden`&&void l(),f=()=>void l();return document.addEventListener(`visibilitychange`,d),addEventListener(`pagehide`,f),{track:(t,n={})=>{let r=lt(t,e);if(!e.hasAnalytics||r===null)return;let a={product_id:e.product,...e.variant&&{variant_id:e.variant},...n};i.push({event:r,properties:a,timestamp:(/* @__PURE__ */ new Date()).toISOString(),$insert_id:C()}),u()},stop:()=>{document.removeEventListener(`visibilitychange`,d),removeEventListener(`pagehide`,f),l()}}}let ct={"product_page:page_view":`product_page:page_view`,"product_page:cart_add":`product_page:cart_add`,"widget:button_click":`widget:button_click`,"widget:image_upload":`widget:image_upload`,"widget:generation_start":`widget:generation_start`,"widget:result_view":`widget:result_view`,"widget:share_clicked":`widget:share_clicked`,"widget:download_clicked":`widget:download_clicked`,"widget:add_to_cart_clicked":`widget:add_to_cart_clicked`,"widget:add_to_cart_success":`widget:add_to_cart`,"widget:email_collected":`widget:email_collected`};function lt(e,{publishableKey:t}){return t===null?e:ct[e]??null}function ut(e,{settings:t,visit:n,isEnabled:r}){if(t.proxy===null)return Promise.resolve(X);let i=at(t,n,r);return pt(`${t.proxy}/public/tracking/events`,{events:e,context:i},{})}function dt(e,{settings:t,visit:n,isEnabled:r}){let i=t.service??t.proxy;if(i===null)return Promise.resolve(X);let a=ot(t,n,r);return pt(`${i}/storefront/v1/events`,{events:e,context:a},{authorization:`Bearer ${t.publishableKey}`,"x-service-anonymous-id":a.anonymous_id})}let X={outcome:`taken`,retrySeconds:0},Z={outcome:`refused`,retrySeconds:0},ft={outcome:`lost`,retrySeconds:0};async function pt(e,t,n){let r=await fetch(e,{method:`POST`,headers:{"content-type":`application/json`,...n},body:JSON.stringify(t),keepalive:!0});if(r.status===429)return{outcome:`lost`,retrySeconds:Number(r.headers.get(`retry-after`))||0};if(!r.ok)return r.status>=500?ft:Z;let{success:i}=await r.json();return i?X:Z}let Q=`drape:visitor`;function mt({settings:e,clientId:t,track:n}){let r=`${e.proxy}/public`,i={"x-service-anonymous-id":`anon_${t}`},a=()=>e.hasAnalytics?localStorage:sessionStorage,o=({visitorToken:e,expiresAt:t})=>{Date.parse(t)>Date.now()&&(i[`x-service-visitor-token`]=e)};try{o(JSON.parse(w(a,Q)??`{}`))}catch{}async function s(e,t={}){try{let n={...t,headers:{...i,...t.headers}};return await ht(`${r}/${e}`,{...n,signal:AbortSignal.timeout(3e4)})}catch(t){let{code:r,status:i}=t;throw n(`api:error`,{code:r,status:i,path:e.replace(/[/?].*/,``)}),t}}let c=(e,t,n={})=>s(e,{method:`POST`,headers:{...t&&{"content-type":`application/json`},...n},...t&&{body:JSON.stringify(t)}});return{nameVisitor:async e=>{if(i[`x-service-visitor-token`])return;let t=e=>c(`visitor`,e),n=await t({}).catch(async n=>{let r=n.code===`CAPTCHA_REQUIRED`?await e():null;return r===null?null:await t({captcha:r})}).catch(()=>null);n!==null&&(o(n),T(a,Q,JSON.stringify(n)))},uploadUrl:`${r}/upload-image`,headers:i,checkCredits:()=>s(`check-credits`),findConsent:e=>s(`consent?${new URLSearchParams({lang:e})}`),giveConsent:({policy:e,version:t,language:n})=>c(`consent`,{policy:e,version:t,language:n}),withdrawConsent:()=>c(`withdraw-consent`),prepareUpload:()=>c(`prepare-upload`),completeUpload:e=>c(`upload-complete`,{uploadKey:e}),enterFittingRoom:(t,n)=>c(`fitting-room`,{userImageId:t,productId:e.product,...e.variant&&{variantId:e.variant}},{"idempotency-key":n}),findGeneration:e=>s(`generation/${e}`),share:e=>c(`share-generation`,{generationId:e,effectiveDomain:location.hostname}),leaveEmail:(e,t)=>c(`collect-email`,{email:e,marketingConsent:t}),downloadUrl:(t,n=e.title)=>`${r}/download-image?${new URLSearchParams({url:t,filename:n})}`}}async function ht(t,n){let r=await fetch(t,n).catch(()=>null);if(r===null)throw new e(`NETWORK`);let i=await r.text().catch(()=>null);if(i===null)throw new e(`NETWORK`);return gt(r.status,i,r.headers.get(`retry-after`))}function gt(t,n,r){if(t===204)return{};let i=_t(n);if(t<300&&i!==null)return i;let{code:a,period:o,message:s,details:c}=i??{};a===`PROXY_SIGNATURE_INVALID`&&console.error(`drape-try-on:`,s,c);let l=Number(r??NaN);throw new e(typeof a==`string`?a:t>=500?`SERVICE_UNAVAILABLE`:`UNEXPECTED`,{status:t,retrySeconds:Number.isFinite(l)?l:null,period:typeof o==`string`?o:null})}function _t(e){try{let t=JSON.parse(e);return typeof t==`object`?t:null}catch{return null}}let vt=3e4;function yt({method:t,url:n,headers:r,body:i,onProgress:a,signal:o}){let s=new XMLHttpRequest;return new Promise((c,l)=>{let u=()=>l(new e(`NETWORK`)),d=()=>s.abort(),f=setTimeout(d,vt);s.upload.onprogress=({loaded:e,total:t,lengthComputable:n})=>{clearTimeout(f),f=setTimeout(d,vt),n&&a(e/t)},s.onerror=u,s.onabort=u,s.onload=()=>{try{c(gt(s.status,s.responseText,s.getResponseHeader(`retry-after`)))}catch(e){l(e)}},s.onloadend=()=>{clearTimeout(f),o.removeEventListener(`abort`,d)},o.addEventListener(`abort`,d),s.open(t,n);for(let[e,t]of Object.entries(r))s.setRequestHeader(e,t);s.send(i)})}function bt(e){return{photo:e,link:null,isSent:!1,imageId:e.imageId,key:C(),jobId:null}}async function xt(n,r){n.jobId===null?(await r.consent.settle(()=>r.shop.nameVisitor(r.solve)),n.imageId??=await St(n,r),n.jobId=await Tt(n,n.imageId,r),be(r.settings,n.jobId)):r.onWaiting(`PROCESSING`,!1);let i=await Dt(n.jobId,r).catch(t);if(!(i instanceof e)&&i.resultImageUrl!==void 0)return i;let a=i instanceof e?i:new e(i.errorCode??`RESULT_GONE`,{appealUrl:i.appealUrl});throw i instanceof e&&i.code!==`GENERATION_NOT_FOUND`||(N(r.settings),Object.assign(n,{jobId:null,key:C()})),a}async function St(e,n){let r=Date.now(),{track:i}=n;n.onSending(0);try{await n.shop.nameVisitor(n.solve);let{fileId:t}=await(n.settings.onlyProxy?Ct:wt)(e,n);return i(`widget:image_upload_success`,{duration_ms:Date.now()-r}),de(e.photo,t),t}catch(e){throw i(`widget:image_upload_error`,{code:t(e).code}),e}}function Ct({photo:e},{shop:t,onSending:n,signal:r}){let i=new FormData;return i.set(`file`,e.file??``),yt({method:`POST`,url:t.uploadUrl,headers:t.headers,body:i,onProgress:n,signal:r})}async function wt(e,t){let{shop:n,onSending:r,signal:i}=t;try{e.link??=await n.prepareUpload();let{uploadUrl:t,uploadKey:a}=e.link,o=e.photo.file??new Blob;return e.isSent||await yt({method:`PUT`,url:t,headers:{},body:o,onProgress:r,signal:i}),e.isSent=!0,r(1),await n.completeUpload(a)}catch(t){throw Et(t)&&Object.assign(e,{link:null,isSent:!1}),t}}async function Tt(e,n,{shop:r,track:i,onWaiting:a}){a(`PENDING`,!1);try{let{jobId:t}=await r.enterFittingRoom(n,e.key);return i(`widget:generation_start`,{generation_id:t}),t}catch(n){throw Et(n)&&(e.key=C()),t(n).code===`IMAGE_NOT_FOUND`&&(fe(),Object.assign(e,{imageId:null,link:null,isSent:!1})),n}}function Et(e){let{code:n,status:r}=t(e);return r>=400&&r<500&&n!==`IDEMPOTENCY_KEY_IN_USE`}async function Dt(n,{shop:r,signal:i,onWaiting:a}){for(let o=0;;){if(i.aborted)throw new e(`NETWORK`);let s=await r.findGeneration(n).catch(e=>t(e));if(s instanceof e){if(!(s.code===`NETWORK`||s.status>=500||s.status===429)||++o>=8)throw s;a(`PROCESSING`,!0)}else{if(o=0,s.status===`COMPLETED`||s.status===`FAILED`)return s;a(s.status,!1)}await new Promise(e=>setTimeout(e,2e3))}}function Ot({shop:e,settings:n,track:r,consent:i,solve:a,onStep:o}){let s={name:`photo`},c=null,l=new AbortController,u=e=>{s.name===`camera`&&(e.name!==`camera`||e.video!==s.video)&&U(s.video),s=e,o(s)};async function d(o,{signal:s}){let{photo:c}=o,l=e=>s.aborted||u(e);try{let{generationId:t,resultImageUrl:d}=await xt(o,{shop:e,settings:n,track:r,consent:i,solve:a,signal:s,onSending:e=>l({name:`sending`,photo:c,part:e}),onWaiting:(e,t)=>l({name:`waiting`,photo:c,status:e,isOffline:t})});if(s.aborted)return;let{product:f,title:p}=n,m={generationId:t,resultImageUrl:d??``,product:f,title:p};_e(m),u({name:`done`,result:m})}catch(e){l({name:`failed`,failure:jt(c,t(e)),photo:c})}}async function f(){if(c===null)return u({name:`photo`});if(s.name===`sending`||s.name===`waiting`)return;l.abort(),l=new AbortController;let{photo:e,imageId:t,jobId:n}=c;u(t===null?{name:`sending`,photo:e,part:0}:{name:`waiting`,photo:e,status:n===null?`PENDING`:`PROCESSING`,isOffline:!1}),await d(c,l)}let p={current:()=>s,enter:u};async function m(e,t){r(`widget:image_upload`,{source:t,bytes:e.size,type:e.type});let n=await kt(e,{...p,track:r});n!==null&&(c=bt(n),u({name:`ready`,photo:n,source:t}))}function h(){l.abort(),c=null,N(n),u({name:`photo`})}return{step:()=>s,recall:async()=>{let e=s.name===`photo`?await me():null;if(e!==null&&s.name===`photo`){if(c=bt(e),c.jobId=xe(n),c.jobId===null)return u({name:`ready`,photo:e,source:`memory`});await f()}},choose:m,openCamera:()=>At(p),shoot:async()=>{s.name===`camera`&&s.video!==null&&await m(await Ie(s.video),`camera`)},leaveCamera:()=>{s.name===`camera`&&u({name:`photo`})},look:e=>{l.abort(),u({name:`done`,result:e})},start:f,restart:h,review:()=>{if(i.forget(),c===null)return u({name:`photo`});u({name:`ready`,photo:c.photo,source:`file`})},withdraw:async()=>{l.abort(),await i.withdraw(),h()},clear:h,stop:()=>{l.abort(),s.name===`camera`&&U(s.video)}}}async function kt(n,{current:r,enter:i,track:a}){let o=r(),s=await oe(n).catch(t);return s instanceof e&&a(`widget:image_upload_error`,{code:s.code}),r()===o?s instanceof e?(i({name:`failed`,failure:s,photo:null}),null):s:null}async function At({current:n,enter:r}){let i=e=>r({name:`failed`,failure:e,photo:null}),a={name:`camera`,video:null};r(a);let o=await Pe().catch(t);if(n()!==a)return o instanceof e?void 0:U(o);if(o instanceof e)return i(o);let s={name:`camera`,video:o};Fe(o,()=>n()===s&&i(new e(`CAMERA_FAILED`))),r(s)}function jt(t,n){return(n.code===`INVALID_IMAGE`||n.code===`NO_PERSON_DETECTED`)&&se(t)?new e(`IMAGE_TOO_SMALL`,n):n}function Mt(t){let{host:n,settings:r,shop:i,track:a}=t,o=()=>{let n=t.step();if(n.name!==`done`)throw new e(`UNEXPECTED`);return n.result},s=()=>({generation_id:o().generationId});return{share:()=>(a(`widget:share_clicked`,s()),i.share(o().generationId)),download:async()=>{a(`widget:download_clicked`,s());let{generationId:e,resultImageUrl:t,title:n}=o(),r=await i.findGeneration(e);Pt(i.downloadUrl(r.resultImageUrl??t,n))},addToCart:async e=>{a(`widget:add_to_cart_clicked`,s());let n=await Ft(t,{generationId:o().generationId,size:e});return a(n?`widget:add_to_cart_success`:`widget:add_to_cart_error`,s()),n},chosenSize:()=>Nt(r.sizes,n.getAttribute(`size`))??Nt(r.sizes,r.variant),chooseSize:e=>{n.setAttribute(`size`,e.title);let t={product:r.product,variant:e.variant,size:e.title};n.dispatchEvent(new CustomEvent(`drape-size`,{bubbles:!0,composed:!0,detail:t}))},leaveEmail:(e,t)=>{a(`widget:email_collected`,{...s(),marketing_consent:t}),i.leaveEmail(e,t).catch(()=>{})}}}function Nt(e,t){let n=e=>e?.split(`/`).pop();return e.find(e=>!e.isSoldOut&&(e.title===t||n(e.variant)===n(t)))??null}function Pt(e){let t=F(`a`,{href:e,download:!0});document.body.append(t),t.click(),t.remove()}async function Ft({host:e,settings:t,clientId:n},{generationId:r,size:i}){let a=[],o={product:t.product,variant:i?.variant??t.variant,size:i?.title??null,generationId:r,attributes:{_drape_anonymous_id:t.publishableKey===null?n:`anon_${n}`},waitUntil:e=>void a.push(e)};e.dispatchEvent(new CustomEvent(`drape-add-to-cart`,{bubbles:!0,composed:!0,detail:o}));let s=await Promise.allSettled(a);return s.length>0&&s.every(({status:e})=>e===`fulfilled`)}let $=`drape-erased`;function It(e,{settings:n,language:r}){let i=ne(n.hasAnalytics),a=Bt(r,h),{track:o,stop:s}=st(n,i,()=>!a.element.hidden),c=mt({settings:n,clientId:i.clientId,track:o}),l=Ce({shop:c,tag:r.tag}),u=Ot({shop:c,settings:n,track:o,consent:l,solve:()=>Lt(e),onStep:p}),d=tt({language:r,settings:n,shop:c,consent:l,actions:{...Mt({host:e,settings:n,shop:c,track:o,clientId:i.clientId,step:u.step}),...u,withdraw:g},complain:e=>d.show({name:`failed`,failure:t(e),photo:null}),onClose:()=>{o(`widget:modal_close`,{step:u.step().name}),u.leaveCamera()}}),f=/* @__PURE__ */ new Set;function p(t){a.show(t),d.show(t),m(t),e.dispatchEvent(new CustomEvent(`drape-step`,{bubbles:!0,composed:!0,detail:{step:t.name}}))}function m(e){if(e.name!==`done`||!d.element.open||f.has(e.result.generationId))return;let t={generation_id:e.result.generationId};f.add(t.generation_id),o(`widget:result_view`,t),n.hasEmail&&o(`widget:email_prompt_view`,t)}function h(){o(`widget:button_click`),d.show(u.step()),d.open(),m(u.step()),u.recall()}async function g(){await u.withdraw(),dispatchEvent(new Event($))}let _=()=>void zt(u),v=()=>document.hidden&&u.leaveCamera();addEventListener(`online`,_),addEventListener($,u.clear),document.addEventListener(`visibilitychange`,v),Vt(1500,c.checkCredits()).then(a.reveal);let y=Ht(a.element,()=>o(`widget:button_view`));return document.querySelector(e.localName)===e&&o(`product_page:page_view`),{elements:[a.element,d.element],track:o,open:h,stop:()=>{removeEventListener(`online`,_),removeEventListener($,u.clear),document.removeEventListener(`visibilitychange`,v),y.disconnect(),u.stop(),s()}}}async function Lt(e){let t=null;return e.dispatchEvent(new CustomEvent(`drape-captcha`,{bubbles:!0,composed:!0,detail:{answer:e=>{t=e}}})),t}let Rt=[0,1e3,4e3];async function zt(e){for(let t of Rt){await new Promise(e=>setTimeout(e,t));let n=e.step();if(n.name!==`failed`||n.failure.code!==`NETWORK`)return;await e.start()}}function Bt({texts:e,tag:t,direction:n},r){let i=document.createTextNode(e.button),a=L(``,r,{looks:`button`,symbol:I(`hanger`)});return a.append(i),a.lang=t,a.dir=n,a.dataset.waiting=``,{element:a,show:({name:t})=>{a.dataset.step=t,i.data=t===`sending`||t===`waiting`?e.buttonWorking:t===`done`?e.buttonDone:e.button},reveal:({allowed:e})=>{a.hidden=!e,delete a.dataset.waiting}}}function Vt(e,t){let n={allowed:!0},r=new Promise(t=>setTimeout(t,e,n));return Promise.race([t.catch(()=>n),r])}function Ht(e,t){let n=new IntersectionObserver(r=>{r.some(({isIntersecting:e})=>e)&&!e.hidden&&(n.disconnect(),t())});return n.observe(e),n}function Ut(e){let t=new CSSStyleSheet;t.replaceSync(d);let n=g();return class extends HTMLElement{static observedAttributes=o;#e=Promise.resolve(null);#t=!1;connectedCallback(){this.#n()}disconnectedCallback(){this.#n()}attributeChangedCallback(){this.#n()}open(){this.#e.then(e=>a(()=>e?.open()))}track(e,t){this.#e.then(n=>a(()=>n?.track(e,t)))}#n(){this.#t||(this.#t=!0,this.#e=Promise.all([this.#e,Wt()]).then(([e])=>(this.#t=!1,e?.stop(),this.#r())).catch(e=>(console.warn(`drape-try-on:`,e),null)))}async#r(){let r=this.shadowRoot??this.attachShadow({mode:`open`});r.adoptedStyleSheets=[t],r.replaceChildren();let i=s(this,e);if(!this.isConnected||i.product===``)return null;if(i.proxy===null)throw Error(`it needs a proxy of the shop: <drape-try-on proxy="/apps/drape" …>`);let a=await v(this,i.proxy,n);if(this.#t)return null;let o=It(this,{settings:i,language:a});return r.append(...o.elements),o}}}async function Wt(){document.readyState===`loading`&&await new Promise(e=>document.addEventListener(`DOMContentLoaded`,e,{once:!0}))}let Gt=`drape-try-on`,Kt=document.currentScript instanceof HTMLScriptElement?document.currentScript.src:null;a(()=>{customElements.get(Gt)||customElements.define(Gt,Ut(Kt))})})();