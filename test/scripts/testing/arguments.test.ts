import { describe, expect, it } from 'vitest'
import { readTestArguments } from '../../../scripts/testing/arguments.ts'
import { LANE_NAMES } from '../../../scripts/testing/lanes.ts'

describe('the arguments of scripts/test', () => {
  it('are paths, options of scripts/test and options of vitest', () => {
    expect(readTestArguments(['--lane', 'long', 'test/api', '-t', '--bail=1'])).toMatchObject({
      paths: ['test/api'],
      options: ['-t', '--bail=1'],
      lanes: ['long'],
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
    [[], ['default']],
    [['--lane=cluster,faults'], ['cluster', 'faults']],
    [['--all', '--minutes', '70'], LANE_NAMES],
    [['test/api'], []],
  ])('name lanes: %j', (words, lanes) => {
    expect(readTestArguments(words)).toMatchObject({ lanes, minutes: words.includes('70') ? 70 : undefined })
  })

  it.each([
    [['--lane', 'clusters'], 'There is no lane "clusters". Lanes: default, browsers, images, cluster, faults, long.'],
    [['--lane'], 'There is no lane ""'],
    [['--minutes', '1e2'], '`--minutes` must be a whole number from 1 to 9999.'],
  ])('are refused: %j', (words, message) => {
    expect(() => readTestArguments(words)).toThrow(message)
  })

  it.each([
    [['--changed'], 'HEAD'],
    [['--changed', 'main'], 'main'],
    [['--changed=v1.2.0'], 'v1.2.0'],
    [['--changed', '--profile'], 'HEAD'],
  ])('name the commit of --changed: %j', (words, commit) => {
    expect(readTestArguments(words)).toMatchObject({ paths: [], changedSince: commit })
  })
})
