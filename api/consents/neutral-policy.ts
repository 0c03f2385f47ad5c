import type { PolicyTexts } from './consents.store.ts'

/** The policy of shops that have published none: what Drape does with a photo, whatever the settings are. */
export const NEUTRAL_VERSION = 'neutral-1'

/** Texts of a version never change. A change is another version. */
export const NEUTRAL_TEXTS: PolicyTexts = {
  en: 'I agree that my photo is used to show me how products of this shop look on me. Photo and pictures are deleted automatically after the time in the privacy notice. I can withdraw my consent here at any time; they are deleted at once then.',
  de: 'Ich bin einverstanden, dass mein Foto verwendet wird, um mir zu zeigen, wie Produkte dieses Shops an mir aussehen. Foto und Bilder werden nach der in den Datenschutzhinweisen genannten Zeit automatisch gelöscht. Ich kann meine Einwilligung hier jederzeit widerrufen; sie werden dann sofort gelöscht.',
  fr: 'J’accepte que ma photo soit utilisée pour me montrer comment les produits de cette boutique me vont. La photo et les images sont supprimées automatiquement après la durée indiquée dans la notice de confidentialité. Je peux retirer mon consentement ici à tout moment ; elles sont alors supprimées immédiatement.',
  es: 'Acepto que mi foto se use para mostrarme cómo me quedan los productos de esta tienda. La foto y las imágenes se eliminan automáticamente después del plazo que indica el aviso de privacidad. Puedo retirar mi consentimiento aquí en cualquier momento; entonces se eliminan de inmediato.',
}
