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
  // A router asks for what its handlers need only when it is called.
  const routers = factories.map(([, create]) => (create as (options: object) => Routes)({ guards: [], document: {} }))
  return routers.flatMap(({ stack }) =>
    stack.flatMap(({ methods, path }) =>
      methods.filter((method) => method !== 'HEAD').map((method) => `${method} ${inBraces(String(path))}`),
    ),
  )
}

function inBraces(path: string): string {
  return path.replace(/:(\w+)/g, '{$1}')
}
