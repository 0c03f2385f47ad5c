import type { Category } from './generation.ts'

/**
 * Names of garments in shops by category, in lower case without accents, in singular and in plural if it differs. Germanic
 * words also count as the end of a compound whose other parts are garments or `MODIFIERS` ("Sommerkleid").
 */
export const GERMANIC_WORDS: Readonly<Record<Exclude<Category, 'other'>, readonly string[]>> = {
  tops: words(
    'shirt shirts tshirt tshirts tee tees top tops tank tanktop blouse blouses tunic tunics jumper jumpers sweater sweaters',
    'sweatshirt sweatshirts hoodie hoodies pullover pullovers polo polos poloshirt jersey jerseys henley longsleeve camisole',
    'bodysuit cardigan cardigans sweatvest knitwear turtleneck undershirt undershirts',
    'hemd hemden bluse blusen pulli pullis unterhemd unterhemden tunika strickpulli rollkragen sweatjacke strickjacke strickjacken',
    'overhemd overhemden trui truien hempje shirtje shirtjes vestje topje topjes',
    'skjorta skjortor troja trojor undertroja blus blusar topp topper toppar linne bluza',
    'skjorte skjorter tskjorte tskjorter bluser troje trojer troye undertroje genser gensere',
  ),
  bottoms: words(
    'trousers pants pant jeans chino chinos leggings legging shorts skirt skirts joggers jogger sweatpants slacks culottes',
    'miniskirt cargos bermudas',
    'hose hosen jeanshose minirock maxirock midirock jeansrock faltenrock bleistiftrock lederrock tullrock wickelrock tellerrock',
    'sommerrock strickrock cordrock hosenrock rocke leggins',
    'broek broeken rok rokken spijkerbroek',
    'byxor kjol kjolar bukse bukser nederdel nederdele skjort',
  ),
  'one-pieces': words(
    'dress dresses gown gowns jumpsuit jumpsuits romper rompers playsuit playsuits dungarees overall overalls onesie sundress',
    'kleid kleider nachthemd nachthemden strampler einteiler latzhose latzhosen',
    'jurk jurken jurkje jurkjes tuinbroek tuinbroeken',
    'klanning klanningar hangselbyxor kjole kjoler buksedragt buksedress',
  ),
  outerwear: words(
    'jacket jackets coat coats blazer blazers parka parkas trench trenchcoat anorak windbreaker raincoat raincoats overcoat overcoats',
    'waistcoat waistcoats peacoat topcoat greatcoat tailcoat',
    'gilet vest vests poncho cape puffer bomber overshirt',
    'jacke jacken mantel weste westen sakko windjacke',
    'jas jassen bodywarmer colbert',
    'jacka jackor kappa kappor regnrock kavaj vast vastar jakke jakker frakk frakke frakker kabe kaber kape kaper',
  ),
}

/** Names in languages that put the head noun first: "robe chemise" is a dress. */
export const ROMANCE_WORDS: Readonly<Record<Exclude<Category, 'other'>, readonly string[]>> = {
  tops: words(
    'chemise chemises chemisier chemisiers blouse debardeur maillot marcel pull pulls sweat haut hauts tricot gilet',
    'camisa camisas camiseta camisetas blusa blusas sueter sudadera sudaderas jerseis remera remeras playera polera regata regatas',
    'camicia camicie camicetta maglia maglie maglietta magliette maglione maglioni felpa felpe canotta canotte lupetto',
    'camisola camisolas moletom blusao pulover cardiga',
  ),
  bottoms: words(
    'jean pantalon pantalons jupe jupes minijupe bermuda jogging culotte',
    'pantalones falda faldas vaqueros vaquero tejanos minifalda pantalon',
    'pantalone pantaloni gonna gonne pantaloncini minigonna',
    'calca calcas saia saias minissaia calcao calcoes',
  ),
  'one-pieces': words(
    'robe robes combinaison combinaisons combishort salopette grenouillere',
    'vestido vestidos mono monos enterizo peto',
    'vestito vestiti abito abiti tuta tute salopette',
    'macacao macacoes macaquinho jardineira',
  ),
  outerwear: words(
    'veste vestes manteau manteaux blouson blousons doudoune impermeable',
    'chaqueta chaquetas abrigo abrigos cazadora cazadoras americana chaleco gabardina',
    'giacca giacche cappotto cappotti giubbotto giubbotti piumino giubbino impermeabile gilet',
    'casaco casacos jaqueta jaquetas sobretudo colete cortavento',
  ),
}

/** Romance words that are also words of Germanic titles, where a later noun is the head: "Pull-on pants". */
export const SHARED_WORDS: ReadonlySet<string> = new Set(
  words('jean blouse pull sweat tricot bermuda mono marcel regata jogging culotte americana maillot'),
)

/** Garments of no category: the photo alone shows their shape. */
export const UNCATEGORISED_WORDS: ReadonlySet<string> = new Set(
  words(
    'bathrobe bathrobes housecoat housecoats dressinggown dressinggowns',
    'bademantel morgenmantel hausmantel badjas badjassen ochtendjas kamerjas',
    'badrock badrockar morgonrock badekabe badekaber morgenkabe badekape badekaper morgenkape',
    'peignoir peignoirs robedechambre albornoz albornoces bata accappatoio accappatoi vestaglia roupao roupoes robeatoalhado',
  ),
)

/** Names of two or more words that are read as one. */
export const JOINED_NAMES =
  /\bt[\s-]shirt|\bt[\s-]skjorte|\b(?:bath|house|dressing)[\s-](?:robe|coat|gown)|\brobes? de chambre\b|\brobe atoalhado\b|\bmini[\s-]jupe|\bcorta[\s-]vento|\b(?:porte|porta|guarda)[\s-]\p{Letter}/gu

/** First parts of compounds in titles: season, fabric, cut, occasion and wearer. */
export const MODIFIERS: ReadonlySet<string> = new Set(
  words(
    'mini midi maxi sport business denim jeans jean cord cargo chino jogging jogger fleece softshell college polo rugby ski bike biker',
    'sommer winter herbst fruhling ubergangs regen wind schnee leder kunstleder wildleder woll wolle strick jersey baumwoll leinen',
    'seiden samt spitzen plissee falten wickel bleistift tweed daunen stepp kapuzen trager langarm kurzarm rollkragen stehkragen',
    'karo blumen abend cocktail ball braut party fest strand freizeit arbeits trachten damen herren kinder baby umstands ruschen stoff',
    'anzug etui uber motorrad lauf trainings yoga radler schlag kurz lang rain sun tank sweat shirt',
    'zomer spijker leren dons plooi col dames heren avond feest trouw wollen linnen katoen',
    'sommar vinter host regn skinn laeder uld ull dun lin linne hor strik strikke stickad kostym mjukis huv haette hette pike',
    'dongeri cowboy boble tur skal fritids jogge langarmad',
  ),
)

/** Words that name a garment only if no clearer word is present. */
export const WEAK_WORDS: Readonly<Record<string, Category>> = {
  rock: 'bottoms',
  short: 'bottoms',
  body: 'tops',
  knit: 'tops',
  strick: 'tops',
  denim: 'bottoms',
}

/** Words that introduce pieces that a garment is worn or sold with. */
export const JOINING_WORDS: ReadonlySet<string> = new Set(
  words(
    'with without and in mit ohne und im avec sans et en con sin y senza e com sem met zonder med uten uden utan i och og',
  ),
)

/** Words that introduce what a product is used for: "button for shirts". */
export const PURPOSE_WORDS: ReadonlySet<string> = new Set(words('for fur pour para per voor til till'))

function words(...lines: string[]): string[] {
  return lines.flatMap((line) => line.split(' '))
}
