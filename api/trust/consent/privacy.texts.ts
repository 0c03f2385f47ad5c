/** The texts of the privacy page. `{…}` stands for settings of the shop and the installation. */
export interface PrivacyTexts {
  readonly title: string
  readonly lead: string
  readonly responsible: string
  readonly contact: string
  readonly processor: string
  readonly processorText: string
  readonly engine: string
  readonly kinds: Readonly<Record<'preview' | 'photo' | 'test' | 'unknown', string>>
  readonly engineText: string
  readonly checks: string
  readonly checksText: string
  /** At the safety level `strict`. */
  readonly strictText: string
  readonly retention: string
  readonly photos: string
  readonly results: string
  readonly hashes: string
  readonly refusals: string
  readonly hold: string
  readonly addresses: string
  readonly emails: string
  readonly events: string
  readonly analytics: string
  readonly consents: string
  readonly policy: string
  readonly version: string
  readonly withdraw: string
  readonly erase: string
  readonly removal: string
}

const en: PrivacyTexts = {
  title: 'Privacy in the fitting room',
  lead: 'What happens to your photo when you try on products of {shop}.',
  responsible: 'Who is responsible',
  contact: 'Questions about your data:',
  processor: 'Who processes your photo',
  processorText: '{processor} runs the fitting room for the shop. Your photo is used for your try-ons only.',
  engine: 'How the image is made',
  kinds: {
    preview: 'The software places the image of the product over your photo, without generative AI.',
    photo: 'A generative AI model edits your photo.',
    test: 'This shop is being set up: the image is your photo, unchanged.',
    unknown: 'Software edits your photo.',
  },
  engineText: 'Software: {engines}. It runs on servers of the fitting room; no other AI service gets your photo.',
  checks: 'How images are checked',
  checksText:
    'A program checks whether the images of a try-on show nudity, or are on a list of blocked images. If a try-on is refused, you can ask for a person to decide.',
  strictText:
    'It also checks whether the photo shows several people and, unless the shop allows it, underwear or swimwear. It can estimate from the face whether a person should look at the photo first; the estimate is not stored.',
  retention: 'How long data is stored',
  photos: 'Your photo is stored for {days}, then deleted automatically.',
  results: 'Images of you are stored for {days}, then deleted automatically.',
  hashes: 'A hash that finds copies of an image is stored as long as the image.',
  refusals:
    'If a try-on is refused, hashes of its images are stored for 90 days or, if you ask for a review, until 90 days after the decision.',
  hold: 'A court order can oblige us to keep images longer. Nobody can open them in the fitting room then.',
  addresses: 'A keyed hash of your network address is stored for 2 days, to limit try-ons.',
  emails: 'An e-mail address that you leave is stored for up to {days}, or handed to the shop.',
  events: 'What you do in the fitting room, without images, is stored for {days} for statistics of the shop.',
  analytics: 'These statistics also go to {host}.',
  consents: 'That you agreed, and when, is stored for 3 years to prove it, with a hash in place of your ID.',
  policy: 'What you agree to',
  version: 'Version {version}',
  withdraw:
    'To withdraw your consent, open the fitting room in the browser that you used and choose “Withdraw consent and delete my photos”.',
  erase: 'To have your data deleted, contact the shop.',
  removal: 'Did someone else have an image of you made? Ask for its removal.',
}

const de: PrivacyTexts = {
  title: 'Datenschutz in der Umkleidekabine',
  lead: 'Was mit deinem Foto geschieht, wenn du Produkte von {shop} anprobierst.',
  responsible: 'Wer verantwortlich ist',
  contact: 'Fragen zu deinen Daten:',
  processor: 'Wer dein Foto verarbeitet',
  processorText:
    '{processor} betreibt die Umkleidekabine für den Shop. Dein Foto wird nur für deine Anproben verwendet.',
  engine: 'Wie das Bild entsteht',
  kinds: {
    preview: 'Die Software legt das Bild des Produkts über dein Foto, ohne generative KI.',
    photo: 'Ein generatives KI-Modell bearbeitet dein Foto.',
    test: 'Dieser Shop wird gerade eingerichtet: Das Bild ist dein unverändertes Foto.',
    unknown: 'Software bearbeitet dein Foto.',
  },
  engineText: 'Software: {engines}. Sie läuft auf Servern der Umkleidekabine; kein anderer KI-Dienst erhält dein Foto.',
  checks: 'Wie Bilder geprüft werden',
  checksText:
    'Ein Programm prüft, ob die Bilder einer Anprobe Nacktheit zeigen oder auf einer Liste gesperrter Bilder stehen. Wird eine Anprobe abgelehnt, kannst du einen Menschen entscheiden lassen.',
  strictText:
    'Es prüft auch, ob das Foto mehrere Personen zeigt und, wenn der Shop das nicht erlaubt, Unterwäsche oder Bademode. Es kann am Gesicht schätzen, ob zuerst ein Mensch das Foto ansehen soll; die Schätzung wird nicht gespeichert.',
  retention: 'Wie lange Daten gespeichert werden',
  photos: 'Dein Foto wird {days} gespeichert und dann automatisch gelöscht.',
  results: 'Bilder von dir werden {days} gespeichert und dann automatisch gelöscht.',
  hashes: 'Ein Hash, der Kopien eines Bildes findet, wird so lange gespeichert wie das Bild.',
  refusals:
    'Wird eine Anprobe abgelehnt, werden Hashes ihrer Bilder 90 Tage gespeichert oder, wenn du um eine Prüfung bittest, bis 90 Tage nach der Entscheidung.',
  hold: 'Eine gerichtliche Anordnung kann uns verpflichten, Bilder länger aufzubewahren. In der Umkleidekabine kann sie dann niemand öffnen.',
  addresses:
    'Ein Hash deiner Netzwerkadresse, der nur mit einem Schlüssel gebildet werden kann, wird 2 Tage gespeichert, um Anproben zu begrenzen.',
  emails: 'Eine E-Mail-Adresse, die du angibst, wird bis zu {days} gespeichert oder dem Shop übergeben.',
  events: 'Was du in der Umkleidekabine tust, ohne Bilder, wird {days} für Statistiken des Shops gespeichert.',
  analytics: 'Diese Statistiken gehen auch an {host}.',
  consents:
    'Dass und wann du eingewilligt hast, wird als Nachweis 3 Jahre gespeichert, mit einem Hash anstelle deiner Kennung.',
  policy: 'Worin du einwilligst',
  version: 'Version {version}',
  withdraw:
    'Um deine Einwilligung zu widerrufen, öffne die Umkleidekabine im selben Browser und wähle „Einwilligung widerrufen und meine Fotos löschen“.',
  erase: 'Um deine Daten löschen zu lassen, wende dich an den Shop.',
  removal: 'Hat jemand anderes ein Bild von dir machen lassen? Bitte um die Löschung.',
}

const fr: PrivacyTexts = {
  title: 'Confidentialité dans la cabine d’essayage',
  lead: 'Ce qu’il advient de votre photo quand vous essayez des produits de {shop}.',
  responsible: 'Qui est responsable',
  contact: 'Questions sur vos données :',
  processor: 'Qui traite votre photo',
  processorText: '{processor} exploite la cabine d’essayage pour la boutique. Votre photo ne sert qu’à vos essayages.',
  engine: 'Comment l’image est créée',
  kinds: {
    preview: 'Le logiciel place l’image du produit sur votre photo, sans IA générative.',
    photo: 'Un modèle d’IA générative modifie votre photo.',
    test: 'Cette boutique est en cours d’installation : l’image est votre photo, inchangée.',
    unknown: 'Un logiciel modifie votre photo.',
  },
  engineText:
    'Logiciel : {engines}. Il fonctionne sur les serveurs de la cabine d’essayage ; aucun autre service d’IA ne reçoit votre photo.',
  checks: 'Comment les images sont contrôlées',
  checksText:
    'Un programme vérifie si les images d’un essayage montrent de la nudité ou figurent sur une liste d’images bloquées. Si un essayage est refusé, vous pouvez demander qu’une personne décide.',
  strictText:
    'Il vérifie aussi si la photo montre plusieurs personnes et, sauf si la boutique l’autorise, des sous-vêtements ou un maillot de bain. Il peut estimer, d’après le visage, si une personne doit d’abord regarder la photo ; l’estimation n’est pas conservée.',
  retention: 'Durée de conservation',
  photos: 'Votre photo est conservée {days}, puis supprimée automatiquement.',
  results: 'Les images de vous sont conservées {days}, puis supprimées automatiquement.',
  hashes: 'Une empreinte qui permet de retrouver les copies d’une image est conservée aussi longtemps que l’image.',
  refusals:
    'Si un essayage est refusé, les empreintes de ses images sont conservées 90 jours ou, si vous demandez un examen, jusqu’à 90 jours après la décision.',
  hold: 'Une décision de justice peut nous obliger à conserver des images plus longtemps. Personne ne peut alors les ouvrir dans la cabine d’essayage.',
  addresses: 'Une empreinte à clé de votre adresse réseau est conservée 2 jours, pour limiter le nombre d’essayages.',
  emails: 'Une adresse e-mail que vous laissez est conservée jusqu’à {days}, ou transmise à la boutique.',
  events:
    'Vos actions dans la cabine d’essayage, sans images, sont conservées {days} pour les statistiques de la boutique.',
  analytics: 'Ces statistiques sont aussi transmises à {host}.',
  consents:
    'Votre consentement et sa date sont conservés 3 ans comme preuve, avec une empreinte à la place de votre identifiant.',
  policy: 'Ce que vous acceptez',
  version: 'Version {version}',
  withdraw:
    'Pour retirer votre consentement, ouvrez la cabine d’essayage dans le même navigateur et choisissez « Retirer mon consentement et supprimer mes photos ».',
  erase: 'Pour faire supprimer vos données, contactez la boutique.',
  removal: 'Quelqu’un d’autre a fait créer une image de vous ? Demandez sa suppression.',
}

const es: PrivacyTexts = {
  title: 'Privacidad en el probador',
  lead: 'Qué ocurre con tu foto cuando te pruebas productos de {shop}.',
  responsible: 'Quién es responsable',
  contact: 'Preguntas sobre tus datos:',
  processor: 'Quién trata tu foto',
  processorText: '{processor} gestiona el probador para la tienda. Tu foto solo se usa para tus pruebas.',
  engine: 'Cómo se crea la imagen',
  kinds: {
    preview: 'El software coloca la imagen del producto sobre tu foto, sin IA generativa.',
    photo: 'Un modelo de IA generativa edita tu foto.',
    test: 'Esta tienda se está configurando: la imagen es tu foto sin cambios.',
    unknown: 'Un software edita tu foto.',
  },
  engineText: 'Software: {engines}. Funciona en servidores del probador; ningún otro servicio de IA recibe tu foto.',
  checks: 'Cómo se revisan las imágenes',
  checksText:
    'Un programa comprueba si las imágenes de una prueba muestran desnudez o están en una lista de imágenes bloqueadas. Si una prueba se rechaza, puedes pedir que decida una persona.',
  strictText:
    'También comprueba si la foto muestra a varias personas y, salvo que la tienda lo permita, ropa interior o bañadores. Puede estimar por la cara si una persona debe ver antes la foto; la estimación no se guarda.',
  retention: 'Cuánto tiempo se guardan los datos',
  photos: 'Tu foto se guarda {days} y después se elimina automáticamente.',
  results: 'Las imágenes tuyas se guardan {days} y después se eliminan automáticamente.',
  hashes: 'Un hash que permite encontrar copias de una imagen se guarda tanto tiempo como la imagen.',
  refusals:
    'Si una prueba se rechaza, los hashes de sus imágenes se guardan 90 días o, si pides una revisión, hasta 90 días después de la decisión.',
  hold: 'Una orden judicial puede obligarnos a conservar imágenes más tiempo. Nadie puede abrirlas entonces en el probador.',
  addresses: 'Un hash con clave de tu dirección de red se guarda 2 días, para limitar las pruebas.',
  emails: 'Una dirección de correo que dejes se guarda hasta {days} o se entrega a la tienda.',
  events: 'Lo que haces en el probador, sin imágenes, se guarda {days} para estadísticas de la tienda.',
  analytics: 'Estas estadísticas también se envían a {host}.',
  consents: 'Que aceptaste, y cuándo, se guarda 3 años como prueba, con un hash en lugar de tu identificador.',
  policy: 'Qué aceptas',
  version: 'Versión {version}',
  withdraw:
    'Para retirar tu consentimiento, abre el probador en el mismo navegador y elige «Retirar mi consentimiento y eliminar mis fotos».',
  erase: 'Para que se eliminen tus datos, contacta con la tienda.',
  removal: '¿Otra persona ha hecho crear una imagen tuya? Pide que se elimine.',
}

export const PRIVACY_TEXTS: Readonly<Record<string, PrivacyTexts>> = { en, de, fr, es }
