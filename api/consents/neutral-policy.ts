import type { PolicyTexts } from './consents.store.ts'

/** The policy of shops that have published none: what Drape does with a photo, whatever the settings are. */
export const NEUTRAL_VERSION = 'neutral-1'

/** In the languages of the widget. Texts of a version never change. A change is another version. */
export const NEUTRAL_TEXTS: PolicyTexts = {
  en: 'I agree that my photo is used to show me how products of this shop look on me. Photo and pictures are deleted automatically after the time in the privacy notice. I can withdraw my consent here at any time; they are deleted at once then.',
  de: 'Ich bin einverstanden, dass mein Foto verwendet wird, um mir zu zeigen, wie Produkte dieses Shops an mir aussehen. Foto und Bilder werden nach der in den Datenschutzhinweisen genannten Zeit automatisch gelöscht. Ich kann meine Einwilligung hier jederzeit widerrufen; sie werden dann sofort gelöscht.',
  fr: 'J’accepte que ma photo soit utilisée pour me montrer comment les produits de cette boutique me vont. La photo et les images sont supprimées automatiquement après la durée indiquée dans la notice de confidentialité. Je peux retirer mon consentement ici à tout moment ; elles sont alors supprimées immédiatement.',
  es: 'Acepto que mi foto se use para mostrarme cómo me quedan los productos de esta tienda. La foto y las imágenes se eliminan automáticamente después del plazo que indica el aviso de privacidad. Puedo retirar mi consentimiento aquí en cualquier momento; entonces se eliminan de inmediato.',
  it: 'Acconsento all’uso della mia foto per mostrarmi come mi stanno i prodotti di questo negozio. La foto e le immagini vengono cancellate automaticamente dopo il tempo indicato nell’informativa sulla privacy. Posso revocare qui il mio consenso in qualsiasi momento; in tal caso vengono cancellate subito.',
  pl: 'Zgadzam się na użycie mojego zdjęcia, aby pokazać mi, jak wyglądają na mnie produkty tego sklepu. Zdjęcie i obrazy są automatycznie usuwane po czasie podanym w informacji o prywatności. W każdej chwili mogę tu wycofać zgodę; wtedy zostaną natychmiast usunięte.',
  pt: 'Aceito que a minha foto seja usada para me mostrar como me ficam os produtos desta loja. A foto e as imagens são apagadas automaticamente após o prazo indicado no aviso de privacidade. Posso retirar o meu consentimento aqui a qualquer momento; nesse caso são apagadas de imediato.',
  ar: 'أوافق على استخدام صورتي لأرى كيف تبدو عليّ منتجات هذا المتجر. تُحذف الصورة والنتائج تلقائيًا بعد المدة المذكورة في إشعار الخصوصية. يمكنني سحب موافقتي هنا في أي وقت، فتُحذف فورًا.',
}
