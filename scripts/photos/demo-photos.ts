import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'
import { createRepeatFinder } from './repeats.ts'

const run = promisify(execFile)

/** Rules are chosen on one part and measured on the other. */
export const PARTS = ['tune', 'measure'] as const

interface Source {
  readonly repository: string
  readonly part: (typeof PARTS)[number]
  /** Folders in the repository, and the target of their images: "persons", or "garments" and a category; null for none. */
  readonly folders: Readonly<Record<string, (file: string) => string | null>>
}

/** Demos of public try-on projects. The licences of their images are unknown: use them only for inspection and measurements. */
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
    part: 'measure',
    folders: { 'examples/model': () => 'persons', 'examples/garment': placeOfFitDiT },
  },
  {
    repository: 'https://github.com/nftblackmagic/catvton-flux',
    part: 'measure',
    folders: {
      'example/person': (file) => (file.includes('mask') ? null : 'persons'),
      'example/garment': (file) => (file.startsWith('00055') ? null : 'garments/tops'),
    },
  },
  {
    repository: 'https://github.com/logn-2024/StableGarment',
    part: 'measure',
    folders: {
      'assets/images/model': () => 'persons',
      'assets/images/garment': (file) => (file.startsWith('13987') ? 'garments/tops' : null),
    },
  },
  {
    repository: 'https://github.com/xiezhy6/PASTA-GAN-plusplus',
    part: 'measure',
    folders: { 'test_datas/image': () => 'persons' },
  },
  {
    // Its persons are drawings of keypoints.
    repository: 'https://github.com/muzishen/IMAGDressing',
    part: 'measure',
    folders: {
      'assets/images/garment': (file) => (file.startsWith('2.') ? null : 'garments/tops'),
    },
  },
  {
    repository: 'https://github.com/ShineChen1024/MagicClothing',
    part: 'measure',
    // Two are swimsuits, which no category covers.
    folders: { valid_cloth: (file) => (/^t[27]\./.test(file) ? null : 'garments/tops') },
  },
]

// Excludes images that the demo of the other part also contains.
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
 * Downloads the images of public try-on demos into `tune` and `measure` of `folder`, in the layout of `scripts/bench photos`. Needs git and
 * internet access.
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
