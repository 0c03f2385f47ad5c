import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'
import { createRepeatFinder } from './repeats.ts'

const run = promisify(execFile)

/** Rules are chosen on the first part and measured on the second. */
export const PARTS = ['tune', 'measure'] as const

interface Source {
  readonly repository: string
  readonly part: (typeof PARTS)[number]
  /** Folders in the repository, and the target of their images: "persons", or "garments" and a category; null for none. */
  readonly folders: Readonly<Record<string, (file: string) => string | null>>
}

/**
 * Public repositories, mostly demos of try-on projects. Unless a line says otherwise, the licences of their images are unknown: use them only
 * for inspection and measurements. The images to measure were chosen by eye: one upright adult, or one product without a person.
 */
const SOURCES: readonly Source[] = [
  {
    repository: 'https://github.com/Zheng-Chong/CatVTON',
    part: 'tune',
    folders: {
      'resource/demo/example/person': () => 'persons',
      'resource/demo/example/condition/upper': () => 'garments/tops',
      'resource/demo/example/condition/overall': () => 'garments/one-pieces',
    },
  },
  {
    repository: 'https://github.com/yisol/IDM-VTON',
    part: 'tune',
    folders: {
      'gradio_demo/example/human': () => 'persons',
      'gradio_demo/example/cloth': () => 'garments/tops',
    },
  },
  {
    repository: 'https://github.com/levihsu/OOTDiffusion',
    part: 'tune',
    folders: {
      'run/examples/model': () => 'persons',
      'run/examples/garment': (file) => `garments/${categoryOfNumber(file)}`,
    },
  },
  {
    repository: 'https://github.com/BoyuanJiang/FitDiT',
    part: 'tune',
    folders: { 'examples/model': () => 'persons', 'examples/garment': placeOfFitDiT },
  },
  {
    repository: 'https://github.com/nftblackmagic/catvton-flux',
    part: 'tune',
    folders: {
      'example/person': except(/mask/, 'persons'),
      'example/garment': except(/^00055/, 'garments/tops'),
    },
  },
  {
    repository: 'https://github.com/logn-2024/StableGarment',
    part: 'tune',
    folders: {
      'assets/images/model': () => 'persons',
      'assets/images/garment': only(/^13987/, 'garments/tops'),
    },
  },
  {
    repository: 'https://github.com/xiezhy6/PASTA-GAN-plusplus',
    part: 'tune',
    folders: { 'test_datas/image': () => 'persons' },
  },
  {
    // Its persons are drawings of keypoints.
    repository: 'https://github.com/muzishen/IMAGDressing',
    part: 'tune',
    folders: {
      'assets/images/garment': except(/^2\./, 'garments/tops'),
    },
  },
  {
    repository: 'https://github.com/ShineChen1024/MagicClothing',
    part: 'tune',
    // Two are swimsuits, which no category covers.
    folders: { valid_cloth: except(/^t[27]\./, 'garments/tops') },
  },
  {
    repository: 'https://github.com/DeepAlgoExpert/full-body-vto',
    part: 'measure',
    // Not a photo with a shop's label, and underwear.
    folders: {
      'images/humans': except(/^dress3/, 'persons'),
      'images/upper_body': () => 'garments/tops',
      'images/lower_body': except(/^woman_pants5/, 'garments/bottoms'),
      'images/dresses': () => 'garments/one-pieces',
    },
  },
  {
    repository: 'https://github.com/SwayamInSync/clothes-virtual-try-on',
    part: 'measure',
    folders: { 'assets/image': () => 'persons', 'assets/cloth': () => 'garments/tops' },
  },
  {
    repository: 'https://github.com/kushwanthsatyasai/Virtual_TryOn',
    part: 'measure',
    // Not a child's shirt and an image of 263 pixels.
    folders: {
      'frontend/assets/images': (file) =>
        file.includes('Jeans') ? 'garments/bottoms' : /^(Blue|Suede)/.test(file) ? null : 'garments/tops',
    },
  },
  {
    repository: 'https://github.com/UjjwalCodes01/vton',
    part: 'measure',
    // Not a seated person and a photographer's mark.
    folders: { 'fabricvton-nextjs/public/model_images/original': except(/^[24]\./, 'persons') },
  },
  {
    repository: 'https://github.com/Kunbyte-AI/OmniTry',
    part: 'measure',
    folders: {
      demo_example: (file) =>
        file.startsWith('object_top')
          ? 'garments/tops'
          : /^person_(bag|bottom|bowtie|bracelet|dress|tie|top)/.test(file)
            ? 'persons'
            : null,
    },
  },
  {
    repository: 'https://github.com/ali-vilab/AnyDoor',
    part: 'measure',
    folders: {
      'examples/Gradio/BG': only(/^17/, 'persons'),
      'examples/Gradio/FG': only(/^(36|39|43|44)/, 'garments/tops'),
    },
  },
  {
    repository: 'https://github.com/logn-2024/Any2anyTryon',
    part: 'measure',
    folders: {
      'asset/images/garment': (file) =>
        `garments/${{ 'garment3.jpg': 'one-pieces', 'garment4.jpg': 'bottoms' }[file] ?? 'tops'}`,
    },
  },
  {
    repository: 'https://github.com/aeliskothiya/VirtualTryon',
    part: 'measure',
    folders: {
      'Backend/FashionAI/media/users': () => 'persons',
      'Backend/FashionAI/media/wardrobe': only(/^8eea/, 'garments/tops'),
    },
  },
  {
    repository: 'https://github.com/aigc3d/LHM',
    part: 'measure',
    folders: { 'train_data/example_imgs': only(/^(00000_half|000000_half2|000057|0000_test|video|yl)/, 'persons') },
  },
  {
    repository: 'https://github.com/farazBhatti/Human-Body-Measurements-using-Computer-Vision',
    part: 'measure',
    folders: { 'sample_data/input': only(/^(arsalan2|ramzan1|saif1)/, 'persons') },
  },
  {
    repository: 'https://github.com/ali-vilab/UniAnimate',
    part: 'measure',
    folders: { 'data/images': only(/^(WOMEN|musk)/, 'persons') },
  },
  {
    repository: 'https://github.com/aimagelab/multimodal-garment-designer',
    part: 'measure',
    folders: { 'assets/data/vitonhd/test/image': () => 'persons' },
  },
  {
    repository: 'https://github.com/MooreThreads/Moore-AnimateAnyone',
    part: 'measure',
    folders: { 'configs/inference/ref_images': only(/^anyone-(3|11)\./, 'persons') },
  },
  {
    // Clothes photographed at home, under CC0.
    repository: 'https://github.com/alexeygrigorev/clothing-dataset-small',
    part: 'measure',
    folders: {
      'test/t-shirt': only(/^(2cc6|7fe4)/, 'garments/tops'),
      'test/longsleeve': only(/^0f4d/, 'garments/tops'),
      'test/shirt': only(/^adab/, 'garments/tops'),
      'test/outwear': only(/^7f6e/, 'garments/tops'),
      'test/pants': only(/^(122f|2884|52f7|7d3a)/, 'garments/bottoms'),
      'test/shorts': only(/^(0624|879e)/, 'garments/bottoms'),
      'test/skirt': only(/^(0558|dab7)/, 'garments/bottoms'),
      'test/dress': only(/^(28b0|8c6b|cbf4|ee7b)/, 'garments/one-pieces'),
    },
  },
]

function only(files: RegExp, place: string) {
  return (file: string) => (files.test(file) ? place : null)
}

function except(files: RegExp, place: string) {
  return (file: string) => (files.test(file) ? null : place)
}

// Excludes images that an earlier demo also contains.
function placeOfFitDiT(file: string): string | null {
  const name = file.replace(/\.\w+$/, '')
  if (['0', '1', '2', '4', '6', '8'].includes(name)) return null
  if (['0317', '0327', '0329', '0362', '5', '7'].includes(name)) return 'garments/bottoms'
  return ['9', '10', '11'].includes(name) ? 'garments/one-pieces' : 'garments/tops'
}

// In this demo the numbers of products continue across categories.
function categoryOfNumber(file: string): string {
  const number = /^(\d{6})_1\./.exec(file)?.[1] ?? '0'
  if (number < '051000') return 'tops'
  return number <= '051991' ? 'bottoms' : 'one-pieces'
}

export interface FetchedPhotos {
  readonly count: number
  /** Names of images that an earlier demo also shows. They are left out, so that no rule is measured on images that it was chosen on. */
  readonly repeated: readonly string[]
}

/**
 * Downloads images of public repositories into `tune` and `measure` of `folder`, in the layout of `scripts/bench photos`. Needs git and internet
 * access.
 */
export async function fetchDemoPhotos(folder: string): Promise<FetchedPhotos> {
  let count = 0
  const repeated: string[] = []
  const isRepeat = createRepeatFinder()
  for (const { repository, part, folders } of SOURCES) {
    const clone = await mkdtemp(join(tmpdir(), 'drape-photos-'))
    const git = async (...parameters: string[]) =>
      (await run('git', ['-C', clone, ...parameters], { encoding: 'buffer', maxBuffer: 64e6 })).stdout
    try {
      await run('git', ['clone', '--quiet', '--depth', '1', '--filter=blob:none', '--no-checkout', repository, clone])
      for (const [path, placeOf] of Object.entries(folders)) {
        const listed = await git('ls-tree', '-r', '-z', '--name-only', 'HEAD', '--', path)
        for (const file of listed.toString().split('\0')) {
          if (!/\.(jpe?g|png|webp)$/i.test(file)) continue
          const category = placeOf(basename(file))
          if (category === null) continue
          const name = `${basename(repository)}-${basename(file)}`
          const bytes = await git('show', `HEAD:${file}`)
          if (await isRepeat(bytes)) {
            repeated.push(name)
            continue
          }
          const place = join(folder, part, category)
          await mkdir(place, { recursive: true })
          await writeFile(join(place, name), bytes)
          count++
        }
      }
    } finally {
      await rm(clone, { recursive: true, force: true })
    }
  }
  return { count, repeated }
}
