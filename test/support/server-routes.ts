import { globSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Routes } from '../../api/app.ts'

const FOLDER = resolve(import.meta.dirname, '../../api/routes')

/** Every route that the files of the server API and of the storefront make, as `GET /tryon/v1/generations/{id}`. */
export async function listServerRoutes(): Promise<string[]> {
  const modules = await Promise.all(
    globSync('{server,storefront}/*.ts', { cwd: FOLDER }).map((file) => import(resolve(FOLDER, file))),
  )
  const factories = modules.flatMap((module) =>
    Object.entries(module).filter(([name, value]) => name.endsWith('Routes') && typeof value === 'function'),
  )
  const routers = factories.map(([, create]) => (create as (options: object) => Routes)(ANYTHING))
  return routers.flatMap(({ stack }) =>
    stack.flatMap(({ methods, path }) =>
      methods.filter((method) => method !== 'HEAD').map((method) => `${method} ${inBraces(String(path))}`),
    ),
  )
}

/** Good for any guard and for any list of them: a router asks for the rest only when it is called. */
const NOTHING = Object.assign(() => {}, { *[Symbol.iterator]() {} })
const ANYTHING = new Proxy({ document: {} }, { get: (given, name) => Reflect.get(given, name) ?? NOTHING })

function inBraces(path: string): string {
  return path.replace(/:(\w+)/g, '{$1}')
}
