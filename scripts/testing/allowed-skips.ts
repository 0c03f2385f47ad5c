/** Environment of a test run. */
export interface Circumstances {
  readonly long: boolean
  readonly isRoot: boolean
  /** KUBEBUILDER_ASSETS is set; those binaries contain no controllers. */
  readonly hasAssets: boolean
}

/** Tests that a run may skip, and why. Any other skipped test fails the run. */
export interface AllowedSkip {
  /** The test file, or a path prefix of several. */
  readonly file: string
  /** Part of the full name of the test; default: all tests of the file. */
  readonly test?: string
  readonly reason: string
  readonly when: (run: Circumstances) => boolean
}

const IS_LONG = 'takes minutes: scripts/test --lane long'
const inShortForm = ({ long }: Circumstances) => !long
const withAssets = ({ hasAssets }: Circumstances) => hasAssets

export const ALLOWED_SKIPS: readonly AllowedSkip[] = [
  ...['passes its own tests', 'adds workers', 'goes back to the release', 'leaves its data'].map((test) => ({
    file: 'test/cluster/install/install.test.ts',
    test,
    reason: `part of an installation by Helm on a real node; ${IS_LONG}`,
    when: inShortForm,
  })),
  {
    file: 'test/cluster/install/operations.test.ts',
    reason: `the operator's pages, word for word on a real node; ${IS_LONG}`,
    when: inShortForm,
  },
  {
    file: 'test/cluster/install/air-gap.test.ts',
    reason: `copies the images as for places without internet; ${IS_LONG}`,
    when: inShortForm,
  },
  {
    file: 'test/clients/python.test.ts',
    test: 'on Python 3.',
    reason: `a short run tests the oldest version and installs the newest; ${IS_LONG}`,
    when: inShortForm,
  },
  {
    file: 'test/scripts/stack/postgres.test.ts',
    test: 'runs for root in a folder that other users cannot enter',
    reason: 'is about root, and this user is not root',
    when: ({ isRoot }) => !isRoot,
  },
  {
    file: 'test/faults/faults.test.ts',
    test: 'the disk of Postgres or of uploads is full',
    reason: 'mounts a small file system, which only root may do',
    when: ({ isRoot }) => !isRoot,
  },
  { file: 'test/cluster/', reason: 'KUBEBUILDER_ASSETS has no controllers', when: withAssets },
  { file: 'test/chart/lifecycle.test.ts', reason: 'KUBEBUILDER_ASSETS has no controllers', when: withAssets },
  { file: 'test/observability/watched.test.ts', reason: 'KUBEBUILDER_ASSETS has no controllers', when: withAssets },
]
