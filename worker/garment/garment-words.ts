import type { Category } from './garment.ts'

/**
 * Names of garments in shops by category, in lower case without accents, in singular and in plural if it differs. Germanic
 * words also count as the end of a compound ("Sommerkleid"), where they are the head.
 */
export const GERMANIC_WORDS: Readonly<Record<Exclude<Category, 'other'>, readonly string[]>> = {
  tops: words(
    'shirt shirts tshirt tshirts tee tees top tops tank tanktop blouse blouses tunic tunics jumper jumpers sweater sweaters',
    'sweatshirt sweatshirts hoodie hoodies pullover pullovers polo polos poloshirt jersey jerseys henley longsleeve camisole',
    'bodysuit cardigan cardigans sweatvest knitwear turtleneck',
    'hemd hemden bluse blusen pulli pullis unterhemd tunika strickpulli rollkragen sweatjacke strickjacke',
    'overhemd trui truien hempje shirtje vestje topje',
    'skjorta troja linne bluza skjorte genser trui',
  ),
  bottoms: words(
    'trousers pants pant jeans chino chinos leggings legging shorts skirt skirts joggers jogger sweatpants slacks culottes',
    'miniskirt cargos bermudas',
    'hose hosen jeanshose shorts minirock jeansrock faltenrock bleistiftrock lederrock tullrock rocke leggins',
    'broek broeken rok rokken spijkerbroek',
    'byxor kjol shorts bukser nederdel skjort',
  ),
  'one-pieces': words(
    'dress dresses gown gowns jumpsuit jumpsuits romper rompers playsuit playsuits dungarees overall overalls onesie sundress',
    'kleid kleider strampler einteiler latzhose',
    'jurk jurken jurkje tuinbroek',
    'klanning klanningar kjole kjoler',
  ),
  outerwear: words(
    'jacket jackets coat coats blazer blazers parka parkas trench trenchcoat anorak windbreaker raincoat overcoat waistcoat',
    'gilet vest vests poncho cape puffer bomber overshirt',
    'jacke jacken mantel weste westen sakko windjacke',
    'jas jassen mantel bodywarmer colbert',
    'jacka kappa rock jakke frakke',
  ).filter((word) => word !== 'rock'),
}

/** Names in languages that put the head noun first: "robe chemise" is a dress. */
export const ROMANCE_WORDS: Readonly<Record<Exclude<Category, 'other'>, readonly string[]>> = {
  tops: words(
    'chemise chemises chemisier chemisiers blouse debardeur maillot marcel pull pulls sweat haut hauts tricot gilet',
    'camisa camisas camiseta camisetas blusa blusas sueter sudadera sudaderas jersei remera playera polera regata',
    'camicia camicie camicetta maglia maglie maglietta magliette maglione maglioni felpa felpe canotta canotte',
    'camisola camisolas moletom blusao sweat',
  ),
  bottoms: words(
    'pantalon pantalons jupe jupes bermuda jogging culotte',
    'pantalones falda faldas vaqueros vaquero tejanos minifalda pantalon',
    'pantalone pantaloni gonna gonne pantaloncini minigonna',
    'calca calcas saia saias calcao calcoes',
  ),
  'one-pieces': words(
    'robe robes combinaison combinaisons salopette grenouillere',
    'vestido vestidos mono monos enterizo peto',
    'vestito vestiti abito abiti tuta tute salopette',
    'macacao macacoes',
  ),
  outerwear: words(
    'veste vestes manteau manteaux blouson blousons doudoune impermeable',
    'chaqueta chaquetas abrigo abrigos cazadora americana chaleco gabardina',
    'giacca giacche cappotto cappotti giubbotto giubbotti piumino giubbino gilet',
    'casaco casacos jaqueta jaquetas sobretudo colete blusao',
  ),
}

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
    'with without for and in mit ohne fur und im avec sans pour et en con sin para y senza per e com sem met zonder voor',
  ),
)

function words(...lines: string[]): string[] {
  return lines.flatMap((line) => line.split(' '))
}
