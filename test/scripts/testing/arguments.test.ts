import { describe, expect, it } from 'vitest'
import { readTestArguments } from '../../../scripts/testing/arguments.ts'

describe('the arguments of scripts/test', () => {
  it('are paths, options of scripts/test and options of vitest', () => {
    expect(readTestArguments(['--long', 'test/api', '-t', '--bail=1'])).toMatchObject({
      paths: ['test/api'],
      options: ['-t', '--bail=1'],
      long: true,
      allowMissing: false,
      changedSince: undefined,
    })
    expect(readTestArguments(['--allow-missing'])).toMatchObject({ paths: [], options: [], allowMissing: true })
  })

  it.each([
    [['test/docs.test.ts', '-t', 'has no dead link'], ['test/docs.test.ts'], ['-t', 'has no dead link']],
    [['-t', 'test', 'test/docs.test.ts'], ['test/docs.test.ts'], ['-t', 'test']],
    [['--retry', '2', '--update', 'test'], ['test'], ['--retry', '2', '--update']],
    [['--testNamePattern=test', 'test'], ['test'], ['--testNamePattern=test']],
  ])('keep an option and its value together: %j', (words, paths, options) => {
    expect(readTestArguments(words)).toMatchObject({ paths, options })
  })

  it.each([
    [['--changed'], 'HEAD'],
    [['--changed', 'main'], 'main'],
    [['--changed=v1.2.0'], 'v1.2.0'],
    [['--changed', '--long'], 'HEAD'],
  ])('name the commit of --changed: %j', (words, commit) => {
    expect(readTestArguments(words)).toMatchObject({ paths: [], changedSince: commit })
  })
})
