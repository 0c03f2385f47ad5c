import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

interface Source {
  readonly repository: string
  /** Folders in the repository, and where their pictures belong: "persons", or "garments" and a category. */
  readonly folders: Readonly<Record<string, (file: string) => string>>
}

/** Demos of public try-on projects. Nobody says under which terms their pictures may be used: they are looked at and measured, nothing else. */
const SOURCES: readonly Source[] = [
  {
    repository: 'https://github.com/Zheng-Chong/CatVTON',
    folders: {
      'resource/demo/example/person': () => 'persons',
      'resource/demo/example/condition/upper': () => 'garments/tops',
      'resource/demo/example/condition/overall': () => 'garments/one-pieces',
    },
  },
  {
    repository: 'https://github.com/yisol/IDM-VTON',
    folders: {
      'gradio_demo/example/human': () => 'persons',
      'gradio_demo/example/cloth': () => 'garments/tops',
    },
  },
  {
    repository: 'https://github.com/levihsu/OOTDiffusion',
    folders: {
      'run/examples/model': () => 'persons',
      'run/examples/garment': (file) => `garments/${categoryOfNumber(file)}`,
    },
  },
]

// In this demo the numbers of products go on from one category to the next.
function categoryOfNumber(file: string): string {
  const number = /^(\d{6})_1\./.exec(file)?.[1] ?? '0'
  if (number < '051000') return 'tops'
  return number <= '051991' ? 'bottoms' : 'one-pieces'
}

/** Puts the pictures of public try-on demos into `folder`, as `scripts/bench photos` reads them. Needs git and the internet. */
export async function fetchDemoPhotos(folder: string): Promise<number> {
  let count = 0
  for (const { repository, folders } of SOURCES) {
    const clone = await mkdtemp(join(tmpdir(), 'drape-photos-'))
    const git = async (...parameters: string[]) =>
      (await run('git', ['-C', clone, ...parameters], { encoding: 'buffer', maxBuffer: 64e6 })).stdout
    try {
      await run('git', ['clone', '--quiet', '--depth', '1', '--filter=blob:none', '--no-checkout', repository, clone])
      for (const [path, placeOf] of Object.entries(folders)) {
        const listed = await git('ls-tree', '-r', '-z', '--name-only', 'HEAD', '--', path)
        for (const file of listed.toString().split('\0')) {
          if (!/\.(jpe?g|png|webp)$/i.test(file)) continue
          const place = join(folder, placeOf(basename(file)))
          await mkdir(place, { recursive: true })
          await writeFile(join(place, `${basename(repository)}-${basename(file)}`), await git('show', `HEAD:${file}`))
          count++
        }
      }
    } finally {
      await rm(clone, { recursive: true, force: true })
    }
  }
  return count
}
