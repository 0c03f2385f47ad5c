/* Drape, Apache-2.0. Written by scripts/widget build from api/widget/; changes by hand are lost. */
(function(){var e=class extends Error{code;status;retrySeconds;period;constructor(e,{status:t=0,retrySeconds:n=null,period:r=null}={}){super(e),this.code=e,this.status=t,this.retrySeconds=n,this.period=r}};function t(t){return t instanceof e?t:new e(`UNEXPECTED`)}let n=[`NO_PERSON_DETECTED`,`INVALID_IMAGE`,`UNSUPPORTED_IMAGE_TYPE`,`FILE_TOO_LARGE`,`IMAGE_NOT_FOUND`,`CUSTOMER_IMAGE_REQUIRED`,`VALIDATION_FAILED`,`NUDITY_DETECTED`,`EXPOSURE_NOT_ALLOWED`,`SEVERAL_PEOPLE`],r=[`QUOTA_EXCEEDED`,`BILLING_NOT_ALLOWED`,`PRODUCT_NOT_FOUND`,`PRODUCT_IMAGE_FETCH_FAILED`,`MISSING_REQUIRED_CLASSIFICATION`,`PROXY_SIGNATURE_INVALID`];function i(e){return e.code.startsWith(`CONSENT_`)?`consent`:n.includes(e.code)?`photo`:r.includes(e.code)||e.period!==null?`none`:`again`}function a(e){try{return e()}catch(e){console.warn(`drape-try-on:`,e);return}}let o=[`product`,`variant`,`product-title`,`product-image`,`proxy`,`service`,`publishable-key`,`only-proxy`,`privacy-url`,`email`,`cart`,`analytics`,`label`,`lang`];function s(e,t){let n=t===null?null:new URL(`.`,t),r=n?.origin===location.origin,i=t=>{let n=e.getAttribute(t);return n===null?null:l(new URL(n,document.baseURI).href)};return{product:c(`Product`,e.getAttribute(`product`)??``),variant:e.hasAttribute(`variant`)?c(`ProductVariant`,e.getAttribute(`variant`)??``):null,title:e.getAttribute(`product-title`)?.trim()??``,image:e.getAttribute(`product-image`),proxy:i(`proxy`)??(n&&r?l(n.href):null),service:i(`service`)??(n&&!r?l(n.href):null),publishableKey:e.getAttribute(`publishable-key`),onlyProxy:e.hasAttribute(`only-proxy`),privacyUrl:i(`privacy-url`),hasEmail:e.getAttribute(`email`)!==`off`,hasCart:e.hasAttribute(`cart`),hasAnalytics:e.getAttribute(`analytics`)!==`off`}}function c(e,t){return t.startsWith(`gid://`)||t===``?t:`gid://shop/${e}/${t}`}function l(e){return e.replace(/\/+$/,``)}var u=`:host {
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
  font-size: 1rem;
  font-weight: 600;
  line-height: 1.2;
  text-align: center;
  cursor: pointer;
}
.button {
  inline-size: 100%;
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
  font-size: 1rem;
  font-weight: 400;
  line-height: 1.5;
  text-align: start;
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
.stage img {
  display: block;
  inline-size: 100%;
  block-size: 100%;
  object-fit: contain;
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

.panel {
  display: flex;
  flex-direction: column;
  gap: 14px;
  justify-content: center;
  padding: 64px clamp(20px, 4vw, 40px) 32px;
}
.product {
  display: flex;
  align-items: center;
  gap: 10px;
  color: var(--soft);
  font-size: 0.875rem;
}
.product img {
  inline-size: 40px;
  block-size: 50px;
  border-radius: calc(var(--radius) / 2);
  object-fit: cover;
  background: var(--stage);
}
h2 {
  font-size: 1.625rem;
  font-weight: 650;
  line-height: 1.2;
  letter-spacing: -0.01em;
  text-wrap: balance;
}
h3 {
  font-size: 1rem;
  font-weight: 600;
}
.soft {
  color: var(--soft);
}
.small {
  font-size: 0.8125rem;
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

form,
.sharing {
  display: grid;
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
  font-size: 0.8125rem;
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
    justify-content: start;
    padding: 20px 20px max(24px, env(safe-area-inset-bottom));
  }
}

.stack:empty,
.stack > p:empty,
.button[hidden],
.product[hidden],
.warning[hidden] {
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
`,d={button:`Anprobieren`,buttonWorking:`Dein Bild entsteht …`,buttonDone:`Dein Bild ansehen`,title:`Anprobieren`,close:`Schließen`,photoHeading:`Beginne mit einem Foto von dir`,photoHint:`Von vorn, mit Oberkörper, bei gutem Licht. Nur eine Person.`,choose:`Foto auswählen`,camera:`Foto aufnehmen`,drop:`Oder zieh es einfach hierher`,readyHeading:`Dein Foto`,rememberedHeading:`Wieder dasselbe Foto?`,previewAlt:`Das Foto, das du ausgewählt hast`,noPreview:`Dein Browser kann dieses Foto nicht anzeigen. Verwenden lässt es sich trotzdem.`,consent:`Dein Foto geht an unsere Umkleidekabine, die daraus dieses Bild macht, und wird nach einigen Tagen automatisch gelöscht.`,consentMissing:`Bitte kreuze zuerst das Kästchen an.`,withdraw:`Einwilligung widerrufen und meine Fotos löschen`,withdrawn:`Deine Einwilligung ist widerrufen. Deine Fotos und Bilder sind gelöscht.`,privacy:`Datenschutz`,start:`Anprobieren`,another:`Anderes Foto`,sending:`Dein Foto wird gesendet`,waiting:`Gleich ist eine Kabine frei`,making:`Dein Bild entsteht`,offline:`Die Verbindung ist weg. Sobald sie wieder da ist, geht es weiter.`,stay:`Du kannst das hier schließen und dich umsehen; wir machen solange weiter.`,doneHeading:`Das bist du`,resultAlt:`Du mit: {product}`,resultAltPlain:`Du mit dem Produkt`,note:`Eine Software hat dieses Bild gemacht. Der wirkliche Sitz kann abweichen.`,pictureGone:`Das Bild lässt sich hier nicht anzeigen. Lade es stattdessen herunter.`,share:`Teilen`,download:`Herunterladen`,cart:`In den Warenkorb`,cartAdded:`Liegt im Warenkorb.`,cartFailed:`Das kam nicht im Warenkorb an. Bitte nimm den Knopf des Shops.`,shareLink:`Link zu deinem Bild`,copy:`Kopieren`,copied:`Der Link ist kopiert.`,shareUntil:`Wer den Link hat, sieht das Bild bis zum {date}.`,emailHeading:`Neues zuerst erfahren`,email:`E-Mail-Adresse`,emailConsent:`Ja, der Shop darf mir Neuigkeiten und Angebote senden`,emailSend:`Senden`,emailThanks:`Danke.`,emailInvalid:`Bitte prüfe die Adresse noch einmal.`,errorHeading:`Das hat nicht geklappt`,retry:`Noch einmal versuchen`,errors:{NETWORK:`Es gibt keine Verbindung zum Shop. Dein Foto ist noch da: Nichts ist verloren.`,NO_PERSON_DETECTED:`Auf dem Foto finden wir niemanden. Am besten eignet sich eines, das dich von vorn zeigt.`,INVALID_IMAGE:`Diese Datei ist beschädigt oder kein Foto.`,UNSUPPORTED_IMAGE_TYPE:`Bitte nimm ein Foto in einem dieser Formate: JPEG, PNG, WebP oder HEIC.`,FILE_TOO_LARGE:`Das Foto ist größer als 10 MB. Bitte nimm ein kleineres.`,IMAGE_NOT_FOUND:`Das Foto ist nicht mehr gespeichert. Bitte füge es noch einmal hinzu.`,UPLOAD_NOT_FOUND:`Das Foto kam nicht rechtzeitig an. Bitte sende es noch einmal.`,CONSENT_REQUIRED:`Wir brauchen deine Einwilligung, bevor wir dein Foto verwenden können.`,CONSENT_OUTDATED:`Der Text, in den du eingewilligt hast, hat sich geändert. Bitte lies ihn noch einmal.`,QUOTA_EXCEEDED:`Die Umkleidekabine dieses Shops ist gerade geschlossen. Bitte komm später wieder.`,BILLING_NOT_ALLOWED:`Die Umkleidekabine dieses Shops ist gerade geschlossen. Bitte komm später wieder.`,RATE_LIMIT_EXCEEDED:`Das war viel auf einmal. Bitte versuche es in {minutes} min noch einmal.`,DAY_EXCEEDED:`Für heute sind alle Anproben verbraucht. Morgen gibt es neue.`,WEEK_EXCEEDED:`Du hast alle Anproben dieser Woche verbraucht. Am Montag gibt es neue.`,PRODUCT_NOT_FOUND:`Dieses Produkt lässt sich noch nicht anprobieren.`,PRODUCT_IMAGE_FETCH_FAILED:`Dieses Produkt lässt sich noch nicht anprobieren: Sein Bild fehlt.`,MISSING_REQUIRED_CLASSIFICATION:`Dieses Produkt lässt sich noch nicht anprobieren.`,GENERATION_TIMEOUT:`Es hat zu lange gedauert, darum haben wir aufgehört. Bitte versuche es noch einmal.`,RESULT_REJECTED:`Das Bild ist nicht gut geworden, darum zeigen wir es nicht. Ein anderes Foto kann helfen.`,NUDITY_DETECTED:`Dieses Bild zeigt für diesen Shop zu viel Haut. Bitte nimm ein anderes Foto.`,EXPOSURE_NOT_ALLOWED:`Dieser Shop kann keine Fotos in Unterwäsche oder Badekleidung verwenden. Bitte nimm ein anderes.`,SEVERAL_PEOPLE:`Auf dem Foto sind mehrere Personen. Bitte nimm eines, auf dem nur du zu sehen bist.`,SAFETY_UNAVAILABLE:`Wir konnten das Foto nicht prüfen. Bitte versuche es später noch einmal.`,RESULT_GONE:`Das Bild ist nicht mehr gespeichert. Du kannst ein neues machen.`,SERVICE_UNAVAILABLE:`Die Umkleidekabine macht eine kurze Pause. Bitte versuche es gleich noch einmal.`,UNEXPECTED:`Bei uns ist etwas schiefgegangen. Bitte versuche es noch einmal.`}},f={button:`Try it on`,buttonWorking:`Making your picture…`,buttonDone:`See your picture`,title:`Try it on`,close:`Close`,photoHeading:`Start with a photo of yourself`,photoHint:`Face the camera, upper body in view, in good light. One person only.`,choose:`Choose a photo`,camera:`Take a photo`,drop:`You can also drop it here`,readyHeading:`Your photo`,rememberedHeading:`Use the same photo again?`,previewAlt:`The photo you have chosen`,noPreview:`Your browser cannot show this photo, but you can use it.`,consent:`Your photo is sent to our fitting room to make this picture, and deleted automatically after a few days.`,consentMissing:`Please tick the box first.`,withdraw:`Withdraw consent and delete my photos`,withdrawn:`Your consent is withdrawn. Your photos and pictures are deleted.`,privacy:`Privacy`,start:`Try it on`,another:`Another photo`,sending:`Sending your photo`,waiting:`Waiting for a free fitting room`,making:`Making your picture`,offline:`Connection lost. We will continue as soon as it is back.`,stay:`You can close this and keep shopping. We will keep working.`,doneHeading:`Here you are`,resultAlt:`You, wearing: {product}`,resultAltPlain:`You, wearing the product`,note:`Software made this picture. The real fit may differ.`,pictureGone:`The picture cannot be shown here. Download it instead.`,share:`Share`,download:`Download`,cart:`Add to cart`,cartAdded:`It is in your cart.`,cartFailed:`The product could not be added to your cart. Please use the button of the shop.`,shareLink:`Link to your picture`,copy:`Copy`,copied:`The link is copied.`,shareUntil:`Anyone with the link can see the picture until {date}.`,emailHeading:`Be the first to hear about new products`,email:`E-mail address`,emailConsent:`Yes, the shop may send me news and offers`,emailSend:`Send`,emailThanks:`Thank you.`,emailInvalid:`Please check the address.`,errorHeading:`That did not work`,retry:`Try again`,errors:{NETWORK:`No connection to the shop. Your photo is still here, nothing is lost.`,NO_PERSON_DETECTED:`We cannot find a person in the photo. One that shows you from the front works best.`,INVALID_IMAGE:`This file is damaged or is not a photo.`,UNSUPPORTED_IMAGE_TYPE:`Please take a photo in one of these formats: JPEG, PNG, WebP or HEIC.`,FILE_TOO_LARGE:`The photo is larger than 10 MB. Please take a smaller one.`,IMAGE_NOT_FOUND:`The photo has been deleted. Please add it again.`,UPLOAD_NOT_FOUND:`The photo did not arrive in time. Please send it again.`,CONSENT_REQUIRED:`We need your consent before we can use your photo.`,CONSENT_OUTDATED:`The text that you agreed to has changed. Please read it again.`,QUOTA_EXCEEDED:`The fitting room of this shop is closed for now. Please come back later.`,BILLING_NOT_ALLOWED:`The fitting room of this shop is closed for now. Please come back later.`,RATE_LIMIT_EXCEEDED:`That was a lot at once. Please try again in {minutes} min.`,DAY_EXCEEDED:`All try-ons for today have been used. New ones are available tomorrow.`,WEEK_EXCEEDED:`You have used all your try-ons for this week. You get new ones on Monday.`,PRODUCT_NOT_FOUND:`This product cannot be tried on yet.`,PRODUCT_IMAGE_FETCH_FAILED:`This product cannot be tried on yet because its picture is missing.`,MISSING_REQUIRED_CLASSIFICATION:`This product cannot be tried on yet.`,GENERATION_TIMEOUT:`It took too long, so we stopped. Please try again.`,RESULT_REJECTED:`The picture did not turn out well, so we do not show it. Another photo may help.`,NUDITY_DETECTED:`This image shows too much skin for this shop. Please use another photo.`,EXPOSURE_NOT_ALLOWED:`This shop cannot use photos in underwear or swimwear. Please use another one.`,SEVERAL_PEOPLE:`There are several people in the photo. Please use one that shows only you.`,SAFETY_UNAVAILABLE:`We could not check the photo. Please try again later.`,RESULT_GONE:`The picture has been deleted. You can make a new one.`,SERVICE_UNAVAILABLE:`The fitting room takes a short break. Please try again in a moment.`,UNEXPECTED:`Something went wrong on our side. Please try again.`}};let p={en:f,de:d,fr:{button:`Essayer`,buttonWorking:`Votre image arrive…`,buttonDone:`Voir votre image`,title:`Essayer`,close:`Fermer`,photoHeading:`Commencez par une photo de vous`,photoHint:`De face, le buste visible, avec une bonne lumière. Une seule personne.`,choose:`Choisir une photo`,camera:`Prendre une photo`,drop:`Vous pouvez aussi la déposer ici`,readyHeading:`Votre photo`,rememberedHeading:`La même photo ?`,previewAlt:`La photo que vous avez choisie`,noPreview:`Votre navigateur ne peut pas afficher cette photo. Elle peut tout de même servir.`,consent:`Votre photo est envoyée à notre cabine d’essayage pour créer cette image, puis supprimée automatiquement après quelques jours.`,consentMissing:`Veuillez d’abord cocher la case.`,withdraw:`Retirer mon consentement et supprimer mes photos`,withdrawn:`Votre consentement est retiré. Vos photos et images sont supprimées.`,privacy:`Confidentialité`,start:`Essayer`,another:`Une autre photo`,sending:`Envoi de votre photo`,waiting:`Une cabine se libère bientôt`,making:`Votre image arrive`,offline:`La connexion est coupée. Nous reprenons dès son retour.`,stay:`Vous pouvez fermer cette fenêtre et continuer la visite ; nous poursuivons.`,doneHeading:`Vous voilà`,resultAlt:`Vous, avec : {product}`,resultAltPlain:`Vous, avec le produit`,note:`Image créée par un logiciel. Le tombé réel peut être différent.`,pictureGone:`L’image ne peut pas s’afficher ici. Téléchargez-la.`,share:`Partager`,download:`Télécharger`,cart:`Ajouter au panier`,cartAdded:`C’est dans votre panier.`,cartFailed:`L’ajout au panier a échoué. Utilisez le bouton de la boutique.`,shareLink:`Lien vers votre image`,copy:`Copier`,copied:`Le lien est copié.`,shareUntil:`Toute personne qui a le lien peut voir l’image jusqu’au {date}.`,emailHeading:`Les nouveautés avant les autres`,email:`Adresse e-mail`,emailConsent:`Oui, la boutique peut m’envoyer nouveautés et offres`,emailSend:`Envoyer`,emailThanks:`Merci.`,emailInvalid:`Vérifiez l’adresse, s’il vous plaît.`,errorHeading:`Cela n’a pas marché`,retry:`Réessayer`,errors:{NETWORK:`Pas de connexion avec la boutique. Votre photo est toujours là : rien n’est perdu.`,NO_PERSON_DETECTED:`Nous ne trouvons personne sur la photo. Une photo de face convient le mieux.`,INVALID_IMAGE:`Ce fichier est endommagé ou n’est pas une photo.`,UNSUPPORTED_IMAGE_TYPE:`Choisissez une photo dans l’un de ces formats : JPEG, PNG, WebP ou HEIC.`,FILE_TOO_LARGE:`La photo dépasse 10 Mo. Choisissez-en une plus légère.`,IMAGE_NOT_FOUND:`La photo n’est plus conservée. Ajoutez-la de nouveau.`,UPLOAD_NOT_FOUND:`La photo n’est pas arrivée à temps. Envoyez-la de nouveau.`,CONSENT_REQUIRED:`Nous avons besoin de votre consentement avant d’utiliser votre photo.`,CONSENT_OUTDATED:`Le texte que vous avez accepté a changé. Veuillez le relire.`,QUOTA_EXCEEDED:`La cabine de cette boutique est fermée pour le moment. Revenez plus tard.`,BILLING_NOT_ALLOWED:`La cabine de cette boutique est fermée pour le moment. Revenez plus tard.`,RATE_LIMIT_EXCEEDED:`Cela fait beaucoup d’un coup. Réessayez dans {minutes} min.`,DAY_EXCEEDED:`Tous les essayages du jour ont été utilisés. De nouveaux arrivent demain.`,WEEK_EXCEEDED:`Vous avez utilisé tous vos essayages de la semaine. De nouveaux arrivent lundi.`,PRODUCT_NOT_FOUND:`Ce produit ne peut pas encore être essayé.`,PRODUCT_IMAGE_FETCH_FAILED:`Ce produit ne peut pas encore être essayé : son image manque.`,MISSING_REQUIRED_CLASSIFICATION:`Ce produit ne peut pas encore être essayé.`,GENERATION_TIMEOUT:`C’était trop long, nous avons arrêté. Réessayez.`,RESULT_REJECTED:`L’image n’est pas réussie, nous ne la montrons pas. Une autre photo peut aider.`,NUDITY_DETECTED:`Cette image montre trop de peau pour cette boutique. Choisissez une autre photo.`,EXPOSURE_NOT_ALLOWED:`Cette boutique ne peut pas utiliser de photos en sous-vêtements ou en maillot de bain. Choisissez-en une autre.`,SEVERAL_PEOPLE:`Il y a plusieurs personnes sur la photo. Choisissez-en une où vous êtes seul.`,SAFETY_UNAVAILABLE:`Nous n’avons pas pu vérifier la photo. Réessayez plus tard.`,RESULT_GONE:`L’image n’est plus conservée. Vous pouvez en créer une autre.`,SERVICE_UNAVAILABLE:`La cabine fait une courte pause. Réessayez dans un instant.`,UNEXPECTED:`Un problème est survenu chez nous. Réessayez.`}},es:{button:`Pruébatelo`,buttonWorking:`Creando tu imagen…`,buttonDone:`Ver tu imagen`,title:`Pruébatelo`,close:`Cerrar`,photoHeading:`Empieza con una foto tuya`,photoHint:`De frente, con el torso a la vista y buena luz. Solo una persona.`,choose:`Elegir una foto`,camera:`Hacer una foto`,drop:`También puedes soltarla aquí`,readyHeading:`Tu foto`,rememberedHeading:`¿La misma foto otra vez?`,previewAlt:`La foto que has elegido`,noPreview:`Tu navegador no puede mostrar esta foto. Se puede usar de todos modos.`,consent:`Tu foto se envía a nuestro probador para crear esta imagen y se borra automáticamente a los pocos días.`,consentMissing:`Marca primero la casilla.`,withdraw:`Retirar mi consentimiento y eliminar mis fotos`,withdrawn:`Has retirado tu consentimiento. Tus fotos e imágenes se han eliminado.`,privacy:`Privacidad`,start:`Pruébatelo`,another:`Otra foto`,sending:`Enviando tu foto`,waiting:`Enseguida se libera un probador`,making:`Creando tu imagen`,offline:`Se ha perdido la conexión. Seguiremos en cuanto vuelva.`,stay:`Puedes cerrar esto y seguir mirando; nosotros continuamos.`,doneHeading:`Aquí estás`,resultAlt:`Tú, con: {product}`,resultAltPlain:`Tú, con el producto`,note:`Un programa ha creado esta imagen. El ajuste real puede variar.`,pictureGone:`La imagen no se puede mostrar aquí. Descárgala.`,share:`Compartir`,download:`Descargar`,cart:`Añadir a la cesta`,cartAdded:`Está en tu cesta.`,cartFailed:`No ha llegado a tu cesta. Usa el botón de la tienda.`,shareLink:`Enlace a tu imagen`,copy:`Copiar`,copied:`El enlace está copiado.`,shareUntil:`Quien tenga el enlace puede ver la imagen hasta el {date}.`,emailHeading:`Entérate antes que nadie`,email:`Correo electrónico`,emailConsent:`Sí, la tienda puede enviarme novedades y ofertas`,emailSend:`Enviar`,emailThanks:`Gracias.`,emailInvalid:`Revisa la dirección, por favor.`,errorHeading:`No ha funcionado`,retry:`Intentar de nuevo`,errors:{NETWORK:`No hay conexión con la tienda. Tu foto sigue aquí: no se ha perdido nada.`,NO_PERSON_DETECTED:`No encontramos a nadie en la foto. Lo mejor es una foto de frente.`,INVALID_IMAGE:`Este archivo está dañado o no es una foto.`,UNSUPPORTED_IMAGE_TYPE:`Elige una foto en uno de estos formatos: JPEG, PNG, WebP o HEIC.`,FILE_TOO_LARGE:`La foto pesa más de 10 MB. Elige una más pequeña.`,IMAGE_NOT_FOUND:`La foto ya no está guardada. Añádela de nuevo.`,UPLOAD_NOT_FOUND:`La foto no ha llegado a tiempo. Envíala de nuevo.`,CONSENT_REQUIRED:`Necesitamos tu consentimiento antes de usar tu foto.`,CONSENT_OUTDATED:`El texto que aceptaste ha cambiado. Léelo de nuevo.`,QUOTA_EXCEEDED:`El probador de esta tienda está cerrado por ahora. Vuelve más tarde.`,BILLING_NOT_ALLOWED:`El probador de esta tienda está cerrado por ahora. Vuelve más tarde.`,RATE_LIMIT_EXCEEDED:`Han sido muchas a la vez. Inténtalo de nuevo en {minutes} min.`,DAY_EXCEEDED:`Hoy ya se han usado todas las pruebas. Mañana habrá más.`,WEEK_EXCEEDED:`Has usado todas tus pruebas de esta semana. El lunes tendrás más.`,PRODUCT_NOT_FOUND:`Este producto todavía no se puede probar.`,PRODUCT_IMAGE_FETCH_FAILED:`Este producto todavía no se puede probar: falta su imagen.`,MISSING_REQUIRED_CLASSIFICATION:`Este producto todavía no se puede probar.`,GENERATION_TIMEOUT:`Ha tardado demasiado y lo hemos detenido. Inténtalo de nuevo.`,RESULT_REJECTED:`La imagen no ha quedado bien y no la mostramos. Otra foto puede ayudar.`,NUDITY_DETECTED:`Esta imagen muestra demasiada piel para esta tienda. Elige otra foto.`,EXPOSURE_NOT_ALLOWED:`Esta tienda no puede usar fotos en ropa interior o de baño. Elige otra.`,SEVERAL_PEOPLE:`En la foto hay varias personas. Elige una en la que solo aparezcas tú.`,SAFETY_UNAVAILABLE:`No hemos podido comprobar la foto. Inténtalo de nuevo más tarde.`,RESULT_GONE:`La imagen ya no está guardada. Puedes crear otra.`,SERVICE_UNAVAILABLE:`El probador hace una breve pausa. Inténtalo de nuevo en un momento.`,UNEXPECTED:`Algo ha fallado por nuestra parte. Inténtalo de nuevo.`}}};function m(e){let t=e.closest(`[lang]`)?.getAttribute(`lang`)||`en`,n=p[t.slice(0,2).toLowerCase()]??f,{errors:r={},...i}=h(e),a=e.getAttribute(`label`),o={...n,...i,...a&&{button:a},errors:{...n.errors,...r}};return{tag:n!==f||t.toLowerCase().startsWith(`en`)||Object.keys(i).length>0?t:`en`,texts:o}}function h(e){let t=e.querySelector(`script[type="application/json"]`)?.textContent;if(!t)return{};try{return JSON.parse(t)}catch{return console.warn(`drape-try-on: the texts in the element are not JSON`),{}}}function g(e,t){return e.replace(/\{(\w+)\}/g,(e,n)=>t[n]??e)}function _(e,{errors:t}){let n=e.period===null?e.code:`${e.period.toUpperCase()}_EXCEEDED`,r=Math.max(1,Math.ceil((e.retrySeconds??60)/60));return g(t[n]??t.UNEXPECTED,{minutes:String(r)})}function v(e){let t=(t,n)=>{let r=e?S(t,n):null,i=r!==null&&y.test(r)?r:x();return e&&i!==r&&C(t,n,i),i};return{clientId:t(()=>localStorage,`drape:client`),sessionId:`sess_${t(()=>sessionStorage,`drape:session`)}`,pageviewId:b.idOf(location.href)}}let y=/^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/,b=ee();function ee(){let e={href:``,id:``};return{idOf:t=>(e.href!==t&&(e={href:t,id:x()}),e.id)}}function x(){let e=crypto.getRandomValues(/* @__PURE__ */ new Uint8Array(16));return e[6]=e[6]&15|64,e[8]=e[8]&63|128,[...e].map(e=>e.toString(16).padStart(2,`0`)).join(``).replace(/^(.{8})(.{4})(.{4})(.{4})/,`$1-$2-$3-$4-`)}function S(e,t){try{return e().getItem(t)}catch{return null}}function C(e,t,n){try{n===``?e().removeItem(t):e().setItem(t,n)}catch{}}let w=10485760;async function te(t){let n=await createImageBitmap(t).catch(()=>null);if(t.size<=w)return{file:t,imageId:null,picture:n};if(n===null)throw new e(`FILE_TOO_LARGE`);return{file:await re(n,3e3),imageId:null,picture:n}}function ne(e,t){let n=T(e,1e3);return n.setAttribute(`role`,`img`),n.setAttribute(`aria-label`,t),n}function T(e,t){let n=Math.min(1,t/Math.max(e.width,e.height)),r=document.createElement(`canvas`);return r.width=Math.round(e.width*n),r.height=Math.round(e.height*n),r.getContext(`2d`)?.drawImage(e,0,0,r.width,r.height),r}async function re(t,n){let r=await new Promise(e=>T(t,n).toBlob(e,`image/jpeg`,.92));if(r===null||r.size>w)throw new e(`FILE_TOO_LARGE`);return r}let E=`drape:photo`;function ie({picture:e},t){let n=e&&T(e,320).toDataURL(`image/jpeg`,.8);C(()=>sessionStorage,E,JSON.stringify({imageId:t,thumbnail:n}))}function D(){C(()=>sessionStorage,E,``)}async function ae(){try{let{imageId:e,thumbnail:t}=JSON.parse(S(()=>sessionStorage,E)??`{}`);return typeof e==`string`?{file:null,imageId:e,picture:typeof t==`string`?await O(t):null}:null}catch{return null}}function O(e){let t=Uint8Array.from(atob(e.slice(e.indexOf(`,`)+1)),e=>e.charCodeAt(0));return createImageBitmap(new Blob([t],{type:`image/jpeg`}))}function k(e,t){C(()=>sessionStorage,j(e),t)}function oe(e){return S(()=>sessionStorage,j(e))}function A(e){C(()=>sessionStorage,j(e),``)}function j({product:e,variant:t}){return`drape:wish:${t??e}`}function se({shop:e,settings:t,tag:n}){let r=null,i=null,a=()=>{r=null,i=null};return{load:()=>(r??=e.findConsent(n).catch(()=>(r=null,null)),r),agree:e=>{i=e},settle:async t=>{if(i===null)return;await t();let{at:n}=await e.giveConsent(i);r=Promise.resolve({...i,givenAt:n}),i=null},forget:a,withdraw:async()=>{await e.withdrawConsent(),D(),A(t),a()}}}function M(e,t={},...n){let r=document.createElement(e);for(let[e,n]of Object.entries(t))typeof n==`function`?r.addEventListener(e,n):n!==!1&&n!==null&&r.setAttribute(e,n===!0?``:String(n));return r.append(...n.filter(e=>e!==null)),r}let ce={hanger:`M12 8.5V7.2a2.1 2.1 0 1 0-2.1-2.1M12 8.5 2.9 15a1.4 1.4 0 0 0 .8 2.5h16.6a1.4 1.4 0 0 0 .8-2.5z`,close:`M6 6l12 12M18 6 6 18`,person:`M12 10.2a3.6 3.6 0 1 0 0-7.2 3.6 3.6 0 0 0 0 7.2zM3.500 24v-3.500c0-4.200 3.800-7.300 8.500-7.300s8.500 3.100 8.500 7.300V24`,photo:`M4 7.5h3.2L8.8 5h6.4l1.6 2.5H20v11H4zM12 16.2a3.4 3.4 0 1 0 0-6.8 3.4 3.4 0 0 0 0 6.8z`,upload:`M12 15.5V4.5M7.5 8.5 12 4l4.500 4.500M4.500 15.500v4h15v-4`,share:`M12 14.500V3.500M8 7l4-4 4 4M6 11H4.500v9.500h15V11H18`,download:`M12 3.500v11M7.500 10.500 12 15l4.500-4.500M4.500 19.500h15`,warning:`M12 8.500v5M12 16.600v.1M12 3.500 2.500 20h19z`};function N(e){let t=document.createElementNS(`http://www.w3.org/2000/svg`,`svg`);for(let[e,n]of Object.entries({viewBox:`0 0 24 24`,"aria-hidden":`true`,class:`icon`}))t.setAttribute(e,n);let n=document.createElementNS(t.namespaceURI,`path`);return n.setAttribute(`d`,ce[e]),t.append(n),t}function P(e,t,{looks:n,symbol:r=null}){return M(`button`,{type:`button`,class:n,part:n,click:t},r,e)}function le(e){let{consent:t,texts:n,announce:r}=e,i=M(`input`,{type:`checkbox`,id:`consent`,required:!0}),a=M(`p`,{class:`warning small`,id:`consent-problem`,hidden:!0},n.consentMissing),o=M(`div`,{class:`stack`,part:`consent`}),s=t.load();return s.then(t=>{o.append(...F(t)?[de(t,i),a]:[fe(n)],pe(t,e)),o.dataset.loaded=``}),i.addEventListener(`change`,()=>{a.hidden=i.checked,i.setAttribute(`aria-invalid`,String(!i.checked))}),{element:o,check:async()=>{let e=await s;return F(e)?i.checked?(t.agree(e),!0):(a.hidden=!1,i.setAttribute(`aria-invalid`,`true`),i.setAttribute(`aria-describedby`,a.id),r(n.consentMissing),i.focus(),!1):!0}}}function ue({consent:e,texts:t,withdraw:n}){let r=M(`div`,{class:`stack`});return e.load().then(e=>{e?.givenAt&&r.append(P(t.withdraw,n,{looks:`plain`}))}),r}function F(e){return e?.required===!0&&e.givenAt===null}function de({text:e,language:t},n){return M(`label`,{class:`choice`,lang:t},n,M(`span`,{},e))}function fe(e){return M(`p`,{class:`soft small`},e.consent)}function pe(e,{settings:t,texts:n}){let r=t.privacyUrl??e?.privacyUrl;return M(`p`,{class:`small`},r&&M(`a`,{href:r,target:`_blank`,rel:`noopener`,part:`privacy`},n.privacy)||null)}function me(e,{choose:t}){let n=R(`file`,t),r=R(`camera`,t),i=P(e.choose,()=>n.click(),{looks:`primary`,symbol:N(`upload`)});return i.dataset.focus=``,[L(e.photoHeading),M(`p`,{class:`soft`},e.photoHint),M(`div`,{class:`stack`},i,z()?P(e.camera,()=>r.click(),{looks:`secondary`,symbol:N(`photo`)}):null),n,r]}function I(e,{texts:t,actions:n,consenting:r}){let i=le(r),a=async()=>{await i.check()&&n.start()},o=P(t.start,()=>void a(),{looks:`primary`,symbol:N(`hanger`)});return o.dataset.focus=``,[L(e.isRemembered?t.rememberedHeading:t.readyHeading),i.element,M(`div`,{class:`stack`},o,P(t.another,n.restart,{looks:`secondary`}))]}function L(e){return M(`h2`,{tabindex:-1,id:`heading`},e)}function R(e,t){let n=M(`input`,{type:`file`,accept:`image/*`,tabindex:-1,"aria-hidden":`true`,capture:e===`camera`?`user`:null,change:()=>{let[r]=n.files??[];r&&t(r,e)}});return n}function z(){return matchMedia(`(pointer: coarse)`).matches}function he(e,{texts:t,actions:n,close:r}){let a=i(e),o=()=>P(t.retry,n.start,{looks:`primary`}),s=e=>P(t.another,n.restart,{looks:e}),c={again:()=>[o(),s(`secondary`)],photo:()=>[s(`primary`)],consent:()=>[P(t.retry,n.review,{looks:`primary`})],none:()=>[P(t.close,r,{looks:`primary`})]}[a]();return c[0].dataset.focus=``,[L(t.errorHeading),M(`p`,{class:`warning`,part:`error`},N(`warning`),M(`span`,{},_(e,t))),M(`div`,{class:`stack`},...c)]}function ge(e,t){let n=L(``),r=M(`progress`,{max:1}),i=M(`p`,{class:`warning`,hidden:!0},e.offline);return{elements:[n,r,i,M(`p`,{class:`soft`},e.stay)],update:a=>{let o=_e(a,e);n.textContent!==o&&(n.textContent=o,r.setAttribute(`aria-label`,o),t(o)),a.name===`sending`&&a.part<1?r.value=a.part:r.removeAttribute(`value`);let s=a.name===`waiting`&&a.isOffline;s&&i.hidden&&t(e.offline),i.hidden=!s}}}function _e(e,t){return e.name===`sending`?t.sending:e.status===`PENDING`?t.waiting:t.making}function ve(e,{leave:t,announce:n}){let r=M(`input`,{type:`email`,id:`email`,autocomplete:`email`,placeholder:`name@example.com`}),i=M(`input`,{type:`checkbox`,id:`email-consent`}),a=M(`p`,{class:`warning small`,id:`email-problem`,hidden:!0},e.emailInvalid),o=P(e.emailSend,()=>{},{looks:`secondary`});o.type=`submit`;let s=M(`form`,{novalidate:!0,part:`email`,submit:o=>{o.preventDefault();let c=/^\S+@\S+\.\S+$/.test(r.value.trim());if(a.hidden=c,r.setAttribute(`aria-invalid`,String(!c)),!c)return r.setAttribute(`aria-describedby`,`email-problem`),n(e.emailInvalid),r.focus();t(r.value.trim(),i.checked);let l=M(`p`,{tabindex:-1},e.emailThanks);s.replaceChildren(l),l.focus()}},M(`h3`,{},M(`label`,{for:`email`},e.emailHeading)),M(`div`,{class:`field`},r,o),a,M(`label`,{class:`choice`},i,e.emailConsent));return r.setAttribute(`aria-label`,e.email),s}function ye(e){let{language:t,settings:n,actions:r,complain:i}=e,{texts:a}=t,o=M(`div`,{class:`stack`}),s=P(a.share,()=>void xe(o,e).catch(i),{looks:`secondary`,symbol:N(`share`)}),c=P(a.download,()=>void r.download().catch(i),{looks:`secondary`,symbol:N(`download`)});return[L(a.doneHeading),M(`p`,{class:`soft small`},a.note),...n.hasCart?[be(e)]:[],M(`div`,{class:`row`},s,c),o,...n.hasEmail?[ve(a,{leave:r.leaveEmail,announce:e.announce})]:[],P(a.another,r.restart,{looks:`plain`})]}function be({language:{texts:e},actions:t,announce:n}){let r=M(`p`,{class:`small`}),i=P(e.cart,()=>void a(),{looks:`primary`}),a=async()=>{i.disabled=!0;let a=await t.addToCart()?e.cartAdded:e.cartFailed;i.disabled=!1,r.textContent=a,n(a)};return M(`div`,{class:`stack`},i,r)}async function xe(e,t){let{actions:n,settings:r,announce:i,language:a}=t,o=await n.share();e.replaceChildren(Se(o,a,i));let s={url:o.shareUrl,...r.title&&{title:r.title}};if(navigator.canShare?.(s))return navigator.share(s).catch(()=>{});e.querySelector(`input`)?.select()}function Se(e,{texts:t,tag:n},r){let i=M(`input`,{readonly:!0,value:e.shareUrl,"aria-label":t.shareLink,type:`url`}),a=async()=>{i.select(),await navigator.clipboard?.writeText(e.shareUrl).catch(()=>document.execCommand(`copy`)),r(t.copied)},o=new Intl.DateTimeFormat(n,{dateStyle:`long`}).format(new Date(e.expiresAt));return M(`div`,{class:`sharing`,part:`share-link`},M(`div`,{class:`field`},i,P(t.copy,()=>void a(),{looks:`secondary`})),M(`p`,{class:`soft small`},g(t.shareUntil,{date:o})))}function Ce(e){let t=M(`div`,{class:`stage`,part:`picture`}),n=null;return{element:t,show:r=>{t.classList.toggle(`empty`,r.name===`photo`),t.classList.toggle(`working`,r.name===`sending`||r.name===`waiting`);let i=we(r);i!==n&&(n=i,t.replaceChildren(Te(r,e)))}}}function we(e){return e.name===`done`?e.generation:e.name===`photo`?e.name:e.photo}function Te(e,t){if(e.name===`done`)return De(e.generation.resultImageUrl??``,t);let n=e.name===`photo`?null:e.photo;return n===null?M(`div`,{class:`figure guide`},N(`person`),M(`p`,{class:`small`},t.texts.drop)):Ee(n,t)}function Ee({picture:e},{texts:t}){return e===null?M(`div`,{class:`figure`},N(`photo`),M(`p`,{},t.noPreview)):ne(e,t.previewAlt)}function De(e,{texts:t,settings:n,shop:r}){let i=n.title===``?t.resultAltPlain:g(t.resultAlt,{product:n.title}),a=n.onlyProxy?[r.downloadUrl(e)]:[e,r.downloadUrl(e)],o=M(`img`,{alt:i,src:a[0]}),s=0;return o.addEventListener(`error`,()=>{let e=a[++s];e===void 0?o.replaceWith(M(`p`,{class:`figure`},t.pictureGone)):o.src=e}),o}function Oe(e){let{language:t,actions:n,onClose:r}=e,{texts:i,tag:a}=t,o=Ce({texts:i,...e}),s=M(`div`,{class:`panel`,part:`panel`}),c=M(`p`,{class:`unseen`,role:`status`}),l=M(`p`,{class:`unseen`,role:`alert`}),u=()=>p.close(),d=M(`button`,{type:`button`,class:`close`,part:`close`,"aria-label":i.close,click:u});d.append(N(`close`));let f=M(`div`,{class:`room`},o.element,s,d),p=M(`dialog`,{part:`dialog`,lang:a,"aria-label":i.title,close:r},f,c,l);Ae(p),je(p,o.element,n.choose);let m=e=>{c.textContent=e},h=ge(i,m),g={texts:i,announce:m,...e,withdraw:()=>{n.withdraw().then(()=>m(i.withdrawn),e.complain)}},v=null;function y(t){if(t.name===`failed`)return he(t.failure,{texts:i,actions:n,close:u});let r=[ue(g)];return t.name===`photo`?[...me(i,n),...r]:t.name===`ready`?[...I(t,{texts:i,actions:n,consenting:g}),...r]:t.name===`done`?[...ye({...e,announce:m}),...r]:h.elements}function b(){p.open&&(s.querySelector(`[data-focus]`)??s.querySelector(`h2`))?.focus({preventScroll:!0})}return{element:p,show:t=>{o.show(t);let n=t.name===`sending`||t.name===`waiting`,r=!n||v!==`sending`&&v!==`waiting`;v=t.name,r&&s.replaceChildren(ke(e.settings),...y(t)),n&&h.update(t),t.name===`done`&&m(i.doneHeading),l.textContent=t.name===`failed`?_(t.failure,i):``,r&&b()},open:()=>{p.open||p.showModal(),b()}}}function ke({title:e,image:t}){let n=t===null?null:M(`img`,{src:t,alt:``});return M(`p`,{class:`product`,part:`product`,hidden:e===``&&t===null},n,e)}function Ae(e){let t=null;e.addEventListener(`pointerdown`,({target:e})=>{t=e}),e.addEventListener(`click`,({target:n})=>{n===e&&t===e&&e.close()})}function je(e,t,n){let r=e=>n=>{n.preventDefault(),t.classList.toggle(`over`,e)};e.addEventListener(`dragover`,r(!0)),e.addEventListener(`dragleave`,r(!1)),e.addEventListener(`drop`,e=>{r(!1)(e);let[i]=e.dataTransfer?.files??[];i&&t.classList.contains(`empty`)&&n(i,`drop`)})}let B=`1.0.0`;function Me({product:e,variant:t},n,r){return{...V(),$referrer:document.referrer||null,$referring_domain:URL.canParse(document.referrer)?new URL(document.referrer).hostname:null,$session_id:n.sessionId,$pageview_id:n.pageviewId,service_client_id:n.clientId,service_widget_enabled:r,service_product_id:e||null,service_variant_id:t,service_lib_version:B}}function Ne({product:e,variant:t},n,r){return{...V(),anonymous_id:`anon_${n.clientId}`,session_id:n.sessionId,$pageview_id:n.pageviewId,widget_version:`wv_${B}`,widget_enabled:r,product_id:e||null,variant_id:t,integration:`widget`}}function V(){return{$current_url:location.href,$pathname:location.pathname,$host:location.host,$screen_width:screen.width,$screen_height:screen.height,$viewport_width:innerWidth,$viewport_height:innerHeight,$raw_user_agent:navigator.userAgent,$browser_language:navigator.language,$timezone:Intl.DateTimeFormat().resolvedOptions().timeZone}}function Pe(e,t,n){let r=e.publishableKey===null?Le:Re,i=[],a,o=800,s=!1,c=0;async function l(){if(clearTimeout(a),a=void 0,s||i.length===0)return;s=!0;let l=i.splice(0,50),{outcome:d,retrySeconds:f}=await r(l,{settings:e,visit:t,isEnabled:n()}).catch(()=>W);s=!1,c=d===`refused`?c+1:0;let p=d===`taken`||c>=3;o=p?800:Math.max(Math.min(o*4,6e4),f*1e3),p||(i=[...l,...i].slice(-200)),i.length>0&&u()}function u(){a??=setTimeout(l,o)}let d=()=>document.visibilityState===`hidden`&&void l(),f=()=>void l();return document.addEventListener(`visibilitychange`,d),addEventListener(`pagehide`,f),{track:(t,n={})=>{let r=Ie(t,e);if(!e.hasAnalytics||r===null)return;let a={product_id:e.product,...e.variant&&{variant_id:e.variant},...n};i.push({event:r,properties:a,timestamp:(/* @__PURE__ */ new Date()).toISOString(),$insert_id:x()}),u()},stop:()=>{document.removeEventListener(`visibilitychange`,d),removeEventListener(`pagehide`,f),l()}}}let Fe={"product_page:page_view":`product_page:page_view`,"product_page:cart_add":`product_page:cart_add`,"widget:button_click":`widget:button_click`,"widget:image_upload":`widget:image_upload`,"widget:generation_start":`widget:generation_start`,"widget:result_view":`widget:result_view`,"widget:share_clicked":`widget:share_clicked`,"widget:download_clicked":`widget:download_clicked`,"widget:add_to_cart_clicked":`widget:add_to_cart_clicked`,"widget:add_to_cart_success":`widget:add_to_cart`,"widget:email_collected":`widget:email_collected`};function Ie(e,{publishableKey:t}){return t===null?e:Fe[e]??null}function Le(e,{settings:t,visit:n,isEnabled:r}){if(t.proxy===null)return Promise.resolve(H);let i=Me(t,n,r);return G(`${t.proxy}/public/tracking/events`,{events:e,context:i},{})}function Re(e,{settings:t,visit:n,isEnabled:r}){let i=t.service??t.proxy;if(i===null)return Promise.resolve(H);let a=Ne(t,n,r);return G(`${i}/storefront/v1/events`,{events:e,context:a},{authorization:`Bearer ${t.publishableKey}`,"x-service-anonymous-id":a.anonymous_id})}let H={outcome:`taken`,retrySeconds:0},U={outcome:`refused`,retrySeconds:0},W={outcome:`lost`,retrySeconds:0};async function G(e,t,n){let r=await fetch(e,{method:`POST`,headers:{"content-type":`application/json`,...n},body:JSON.stringify(t),keepalive:!0});if(r.status===429)return{outcome:`lost`,retrySeconds:Number(r.headers.get(`retry-after`))||0};if(!r.ok)return r.status>=500?W:U;let{success:i}=await r.json();return i?H:U}let K=`drape:visitor`;function ze({settings:e,clientId:t,track:n}){let r=`${e.proxy}/public`,i={"x-service-anonymous-id":`anon_${t}`},a=()=>e.hasAnalytics?localStorage:sessionStorage,o=({visitorToken:e,expiresAt:t})=>{Date.parse(t)>Date.now()&&(i[`x-service-visitor-token`]=e)};try{o(JSON.parse(S(a,K)??`{}`))}catch{}async function s(e,t={}){try{let n={...t,headers:{...i,...t.headers}};return await Be(`${r}/${e}`,{...n,signal:AbortSignal.timeout(3e4)})}catch(t){let{code:r,status:i}=t;throw n(`api:error`,{code:r,status:i,path:e.replace(/[/?].*/,``)}),t}}let c=(e,t,n={})=>s(e,{method:`POST`,headers:{...t&&{"content-type":`application/json`},...n},...t&&{body:JSON.stringify(t)}});return{nameVisitor:async e=>{if(i[`x-service-visitor-token`])return;let t=e=>c(`visitor`,e),n=await t({}).catch(async n=>{let r=n.code===`CAPTCHA_REQUIRED`?await e():null;return r===null?null:await t({captcha:r})}).catch(()=>null);n!==null&&(o(n),C(a,K,JSON.stringify(n)))},uploadUrl:`${r}/upload-image`,headers:i,checkCredits:()=>s(`check-credits`),findConsent:e=>s(`consent?${new URLSearchParams({lang:e})}`),giveConsent:({policy:e,version:t,language:n})=>c(`consent`,{policy:e,version:t,language:n}),withdrawConsent:()=>c(`withdraw-consent`),prepareUpload:()=>c(`prepare-upload`),completeUpload:e=>c(`upload-complete`,{uploadKey:e}),enterFittingRoom:(t,n)=>c(`fitting-room`,{userImageId:t,productId:e.product,...e.variant&&{variantId:e.variant}},{"idempotency-key":n}),findGeneration:e=>s(`generation/${e}`),share:e=>c(`share-generation`,{generationId:e,effectiveDomain:location.hostname}),leaveEmail:(e,t)=>c(`collect-email`,{email:e,marketingConsent:t}),downloadUrl:t=>`${r}/download-image?${new URLSearchParams({url:t,filename:e.title})}`}}async function Be(t,n){let r=await fetch(t,n).catch(()=>null);if(r===null)throw new e(`NETWORK`);let i=await r.text().catch(()=>null);if(i===null)throw new e(`NETWORK`);return q(r.status,i,r.headers.get(`retry-after`))}function q(t,n,r){if(t===204)return{};let i=Ve(n);if(t<300&&i!==null)return i;let{code:a,period:o,message:s,details:c}=i??{};a===`PROXY_SIGNATURE_INVALID`&&console.error(`drape-try-on:`,s,c);let l=Number(r??NaN);throw new e(typeof a==`string`?a:t>=500?`SERVICE_UNAVAILABLE`:`UNEXPECTED`,{status:t,retrySeconds:Number.isFinite(l)?l:null,period:typeof o==`string`?o:null})}function Ve(e){try{let t=JSON.parse(e);return typeof t==`object`?t:null}catch{return null}}let J=2e4;function Y({method:t,url:n,headers:r,body:i,onProgress:a,signal:o}){let s=new XMLHttpRequest;return new Promise((c,l)=>{let u=()=>l(new e(`NETWORK`)),d=()=>s.abort(),f=setTimeout(d,J);s.upload.onprogress=({loaded:e,total:t,lengthComputable:n})=>{clearTimeout(f),f=setTimeout(d,J),n&&a(e/t)},s.onerror=u,s.onabort=u,s.onload=()=>{try{c(q(s.status,s.responseText,s.getResponseHeader(`retry-after`)))}catch(e){l(e)}},s.onloadend=()=>{clearTimeout(f),o.removeEventListener(`abort`,d)},o.addEventListener(`abort`,d),s.open(t,n);for(let[e,t]of Object.entries(r))s.setRequestHeader(e,t);s.send(i)})}function X(e){return{photo:e,link:null,isSent:!1,imageId:e.imageId,key:x(),jobId:null}}async function He(n,r){n.jobId===null?(await r.consent.settle(()=>r.shop.nameVisitor(r.solve)),n.imageId??=await Ue(n,r),n.jobId=await Ke(n,n.imageId,r),k(r.settings,n.jobId)):r.onWaiting(`PROCESSING`,!1);let i=await qe(n.jobId,r).catch(t);if(!(i instanceof e)&&i.resultImageUrl!==null)return i;let a=i instanceof e?i:new e(i.errorCode??`RESULT_GONE`);throw i instanceof e&&i.code!==`GENERATION_NOT_FOUND`||(A(r.settings),Object.assign(n,{jobId:null,key:x()})),a}async function Ue(e,n){let r=Date.now(),{track:i}=n;n.onSending(0);try{await n.shop.nameVisitor(n.solve);let{fileId:t}=await(n.settings.onlyProxy?We:Ge)(e,n);return i(`widget:image_upload_success`,{duration_ms:Date.now()-r}),ie(e.photo,t),t}catch(e){throw i(`widget:image_upload_error`,{code:t(e).code}),e}}function We({photo:e},{shop:t,onSending:n,signal:r}){let i=new FormData;return i.set(`file`,e.file??``),Y({method:`POST`,url:t.uploadUrl,headers:t.headers,body:i,onProgress:n,signal:r})}async function Ge(e,t){let{shop:n,onSending:r,signal:i}=t;try{e.link??=await n.prepareUpload();let{uploadUrl:t,uploadKey:a}=e.link,o=e.photo.file??new Blob;return e.isSent||await Y({method:`PUT`,url:t,headers:{},body:o,onProgress:r,signal:i}),e.isSent=!0,r(1),await n.completeUpload(a)}catch(t){throw Z(t)&&Object.assign(e,{link:null,isSent:!1}),t}}async function Ke(e,n,{shop:r,track:i,onWaiting:a}){a(`PENDING`,!1);try{let{jobId:t}=await r.enterFittingRoom(n,e.key);return i(`widget:generation_start`,{generation_id:t}),t}catch(n){throw Z(n)&&(e.key=x()),t(n).code===`IMAGE_NOT_FOUND`&&(D(),Object.assign(e,{imageId:null,link:null,isSent:!1})),n}}function Z(e){let{code:n,status:r}=t(e);return r>=400&&r<500&&n!==`IDEMPOTENCY_KEY_IN_USE`}async function qe(n,{shop:r,signal:i,onWaiting:a}){for(let o=0;;){if(i.aborted)throw new e(`NETWORK`);let s=await r.findGeneration(n).catch(e=>t(e));if(s instanceof e){if(!(s.code===`NETWORK`||s.status>=500||s.status===429)||++o>=8)throw s;a(`PROCESSING`,!0)}else{if(o=0,s.status===`COMPLETED`||s.status===`FAILED`)return s;a(s.status,!1)}await new Promise(e=>setTimeout(e,2e3))}}function Je({shop:e,settings:n,track:r,consent:i,solve:a,onStep:o}){let s={name:`photo`},c=null,l=new AbortController,u=e=>{s=e,o(s)};async function d(o,{signal:s}){let{photo:c}=o,l=e=>s.aborted||u(e);try{l({name:`done`,generation:await He(o,{shop:e,settings:n,track:r,consent:i,solve:a,signal:s,onSending:e=>l({name:`sending`,photo:c,part:e}),onWaiting:(e,t)=>l({name:`waiting`,photo:c,status:e,isOffline:t})})})}catch(e){l({name:`failed`,failure:t(e),photo:c})}}async function f(){if(c===null)return u({name:`photo`});l.abort(),l=new AbortController,await d(c,l)}function p(){l.abort(),c=null,A(n),u({name:`photo`})}return{step:()=>s,recall:async()=>{let e=s.name===`photo`?await ae():null;if(e!==null&&s.name===`photo`){if(c=X(e),c.jobId=oe(n),c.jobId===null)return u({name:`ready`,photo:e,isRemembered:!0});await f()}},choose:async(e,n)=>{r(`widget:image_upload`,{source:n,bytes:e.size,type:e.type});try{let t=await te(e);c=X(t),u({name:`ready`,photo:t,isRemembered:!1})}catch(e){r(`widget:image_upload_error`,{code:t(e).code}),u({name:`failed`,failure:t(e),photo:null})}},start:f,restart:p,review:()=>{if(i.forget(),c===null)return u({name:`photo`});u({name:`ready`,photo:c.photo,isRemembered:!1})},withdraw:async()=>{l.abort(),await i.withdraw(),p()},stop:()=>l.abort()}}function Ye(t){let{shop:n,track:r}=t,i=()=>{let n=t.step();if(n.name!==`done`)throw new e(`UNEXPECTED`);return n.generation},a=()=>({generation_id:i().generationId});return{share:()=>(r(`widget:share_clicked`,a()),n.share(i().generationId)),download:async()=>{r(`widget:download_clicked`,a());let{generationId:e,resultImageUrl:t}=i(),o=await n.findGeneration(e);Xe(n.downloadUrl(o.resultImageUrl??t??``))},addToCart:async()=>{r(`widget:add_to_cart_clicked`,a());let e=await Ze(t,i().generationId);return r(e?`widget:add_to_cart_success`:`widget:add_to_cart_error`,a()),e},leaveEmail:(e,t)=>{r(`widget:email_collected`,{...a(),marketing_consent:t}),n.leaveEmail(e,t).catch(()=>{})}}}function Xe(e){let t=M(`a`,{href:e,download:!0});document.body.append(t),t.click(),t.remove()}async function Ze({host:e,settings:t,clientId:n},r){let i=[],a={product:t.product,variant:t.variant,generationId:r,attributes:{_drape_anonymous_id:t.publishableKey===null?n:`anon_${n}`},waitUntil:e=>void i.push(e)};e.dispatchEvent(new CustomEvent(`drape-add-to-cart`,{bubbles:!0,composed:!0,detail:a}));let o=await Promise.allSettled(i);return o.length>0&&o.every(({status:e})=>e===`fulfilled`)}function Qe(e,{settings:n,language:r}){let i=v(n.hasAnalytics),a=tt(r.texts,h),{track:o,stop:s}=Pe(n,i,()=>!a.element.hidden),c=ze({settings:n,clientId:i.clientId,track:o}),l=se({shop:c,settings:n,tag:r.tag}),u=Je({shop:c,settings:n,track:o,consent:l,solve:()=>Q(e),onStep:p}),d=Oe({language:r,settings:n,shop:c,consent:l,actions:{...Ye({host:e,settings:n,shop:c,track:o,clientId:i.clientId,step:u.step}),...u},complain:e=>d.show({name:`failed`,failure:t(e),photo:null}),onClose:()=>o(`widget:modal_close`,{step:u.step().name})}),f=/* @__PURE__ */ new Set;function p(t){a.show(t),d.show(t),m(t),e.dispatchEvent(new CustomEvent(`drape-step`,{bubbles:!0,composed:!0,detail:{step:t.name}}))}function m(e){if(e.name!==`done`||!d.element.open||f.has(e.generation.generationId))return;let t={generation_id:e.generation.generationId};f.add(t.generation_id),o(`widget:result_view`,t),n.hasEmail&&o(`widget:email_prompt_view`,t)}function h(){o(`widget:button_click`),d.show(u.step()),d.open(),m(u.step()),u.recall()}let g=()=>void et(u);addEventListener(`online`,g),nt(1500,c.checkCredits()).then(a.reveal);let _=rt(a.element,()=>o(`widget:button_view`));return document.querySelector(e.localName)===e&&o(`product_page:page_view`),{elements:[a.element,d.element],track:o,open:h,stop:()=>{removeEventListener(`online`,g),_.disconnect(),u.stop(),s()}}}async function Q(e){let t=null;return e.dispatchEvent(new CustomEvent(`drape-captcha`,{bubbles:!0,composed:!0,detail:{answer:e=>{t=e}}})),t}let $e=[0,1e3,4e3];async function et(e){for(let t of $e){await new Promise(e=>setTimeout(e,t));let n=e.step();if(n.name!==`failed`||n.failure.code!==`NETWORK`)return;await e.start()}}function tt(e,t){let n=document.createTextNode(e.button),r=P(``,t,{looks:`button`,symbol:N(`hanger`)});return r.append(n),r.dataset.waiting=``,{element:r,show:({name:t})=>{r.dataset.step=t,n.data=t===`sending`||t===`waiting`?e.buttonWorking:t===`done`?e.buttonDone:e.button},reveal:({allowed:e})=>{r.hidden=!e,delete r.dataset.waiting}}}function nt(e,t){let n={allowed:!0},r=new Promise(t=>setTimeout(t,e,n));return Promise.race([t.catch(()=>n),r])}function rt(e,t){let n=new IntersectionObserver(r=>{r.some(({isIntersecting:e})=>e)&&!e.hidden&&(n.disconnect(),t())});return n.observe(e),n}function it(e){let t=new CSSStyleSheet;return t.replaceSync(u),class extends HTMLElement{static observedAttributes=o;#e;#t=!1;connectedCallback(){this.#n()}disconnectedCallback(){this.#n()}attributeChangedCallback(){this.#n()}open(){a(()=>this.#e?.open())}track(e,t){a(()=>this.#e?.track(e,t))}#n(){if(this.#t)return;this.#t=!0;let e=()=>{this.#t=!1,a(()=>this.#r())};document.readyState===`loading`?document.addEventListener(`DOMContentLoaded`,e,{once:!0}):queueMicrotask(e)}#r(){this.#e?.stop(),this.#e=void 0;let n=this.shadowRoot??this.attachShadow({mode:`open`});n.adoptedStyleSheets=[t],n.replaceChildren();let r=s(this,e);if(this.isConnected&&r.product!==``){if(r.proxy===null)throw Error(`it needs a proxy of the shop: <drape-try-on proxy="/apps/drape" …>`);this.#e=Qe(this,{settings:r,language:m(this)}),n.append(...this.#e.elements)}}}}let $=`drape-try-on`,at=document.currentScript instanceof HTMLScriptElement?document.currentScript.src:null;a(()=>{customElements.get($)||customElements.define($,it(at))})})();