// Prints what both linters find in the document, one problem a line. Runs in the folder of their packages. Usage: lint.js DOCUMENT
import { readFile } from 'node:fs/promises'
import { createConfig, lintFromString } from '@redocly/openapi-core'
import spectralCore from '@stoplight/spectral-core'
import spectralRulesets from '@stoplight/spectral-rulesets'

const source = await readFile(process.argv[2], 'utf8')

const REDOCLY_RULES = {
  // products/batch/{batchId} beside products/{externalId}/stats: the paths are promised, and no batch has the ID `stats`.
  'no-ambiguous-paths': 'off',
}

async function lintWithRedocly() {
  const config = await createConfig({ extends: ['recommended'], rules: REDOCLY_RULES })
  const problems = await lintFromString({ source, absoluteRef: 'openapi.json', config })
  return problems.map(({ ruleId, message, location }) => `redocly ${ruleId}: ${message} ${location[0]?.pointer}`)
}

async function lintWithSpectral() {
  const spectral = new spectralCore.Spectral()
  spectral.setRuleset({ extends: [spectralRulesets.oas] })
  const problems = await spectral.run(source)
  return problems.map(({ code, message, path }) => `spectral ${code}: ${message} ${path.join('/')}`)
}

for (const problem of [...(await lintWithRedocly()), ...(await lintWithSpectral())]) console.log(problem)
