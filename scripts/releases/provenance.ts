import type { Source } from './source.ts'

/** Build of the artifacts of a release. */
export interface Build {
  readonly source: Source
  /** Base images, each with a digest. */
  readonly bases: readonly string[]
  readonly startedAt: Date
  readonly finishedAt: Date
  /** Variables of the build environment that name the builder and the run, as GitHub and GitLab set them. */
  readonly env: NodeJS.ProcessEnv
}

/** The predicate of an in-toto statement with SLSA provenance 1 (https://slsa.dev/provenance/v1). */
export function describeProvenance({ source, bases, startedAt, finishedAt, env }: Build): object {
  const { builder, run } = describeRun(env)
  return {
    buildDefinition: {
      buildType: 'https://drape.dev/release/v1',
      externalParameters: { repository: source.repository, version: source.version },
      internalParameters: { command: 'scripts/release' },
      resolvedDependencies: [
        { uri: `git+${source.repository}`, digest: { gitCommit: source.commit } },
        { uri: 'package-lock.json', digest: { sha256: source.lockFile } },
        ...bases.map((image) => ({ uri: `docker://${image}`, digest: { sha256: image.split('@sha256:')[1] } })),
      ],
    },
    runDetails: {
      builder: { id: builder },
      metadata: {
        ...(run !== undefined && { invocationId: run }),
        startedOn: inSeconds(startedAt),
        finishedOn: inSeconds(finishedAt),
      },
    },
  }
}

function describeRun(env: NodeJS.ProcessEnv): { builder: string; run?: string } {
  const { GITHUB_SERVER_URL, GITHUB_REPOSITORY, GITHUB_WORKFLOW_REF, GITHUB_RUN_ID, CI_PROJECT_URL, CI_JOB_URL } = env
  if (GITHUB_WORKFLOW_REF) {
    const site = GITHUB_SERVER_URL ?? 'https://github.com'
    return {
      builder: `${site}/${GITHUB_WORKFLOW_REF}`,
      run: `${site}/${GITHUB_REPOSITORY}/actions/runs/${GITHUB_RUN_ID}`,
    }
  }
  if (CI_PROJECT_URL) return { builder: `${CI_PROJECT_URL}/.gitlab-ci.yml`, run: CI_JOB_URL }
  return { builder: 'https://drape.dev/release/v1/own-machine' }
}

/** The form in which cosign stores times. */
function inSeconds(time: Date): string {
  return time.toISOString().replace(/\.\d+Z$/, 'Z')
}
