/** `newcut/conformance`: programs that judge a node and a client. */
import { expect, it, onTestFinished } from 'vitest'
import {
  judgeNode,
  junitXml,
  readClientSituations,
  readNodeCases,
  reportLines,
  startClientJudge,
} from '../../src/compose/conformance/public.ts'
import { startDevnet } from '../../src/compose/devnet.ts'

it('a program judges a node by the cases that it chooses', async () => {
  const devnet = await startDevnet({ port: 0, graph: 'pair', autoMine: { kind: 'on-demand' } })
  onTestFinished(() => devnet.close())
  const cases = readNodeCases().filter(({ group }) => group === 'info' || group === 'mining')
  const seen: string[] = []
  const report = await judgeNode({
    url: devnet.url,
    cases,
    needs: ['read-only'],
    onResult: ({ name }) => seen.push(name),
  })
  expect(seen).toEqual(cases.map(({ name }) => name))
  expect(report).toMatchObject({ node: devnet.url, network: 'development', release: 'newcut' })
  const counts = (outcome: string) => report.cases.filter((each) => each.outcome === outcome).length
  expect(counts('failed')).toBe(0)
  expect(counts('passed')).toBeGreaterThan(3)
  expect(counts('skipped')).toBeGreaterThan(0)
  expect(reportLines(report).slice(-2)).toEqual([
    `${counts('passed')} passed, 0 failed, ${counts('skipped')} skipped`,
    expect.stringMatching(/^development, node release .* judged as newcut$/),
  ])
  expect(junitXml(report)).toContain(`tests="${cases.length}" failures="0"`)
})

it('a program has a line for each failed case', async () => {
  const devnet = await startDevnet({ port: 0, graph: 'singleton', autoMine: { kind: 'on-demand' } })
  onTestFinished(() => devnet.close())
  const [first] = readNodeCases().filter(({ group }) => group === 'info')
  const steps = [{ call: 'GET', path: '/health-check', expect: { status: 418 } }]
  const report = await judgeNode({ url: devnet.url, cases: [{ ...first, name: 'odd', steps }] })
  expect(reportLines(report)[0]).toMatch(/^FAILED info: odd \(step 1, GET \/health-check\): status: expected 418/)
})

it('a program that stops a run gets its reason', async () => {
  const signal = AbortSignal.abort(new Error('enough'))
  await expect(judgeNode({ url: 'http://127.0.0.1:9', signal })).rejects.toThrow('enough')
})

it('a program judges a client, and ends when it likes', async () => {
  const situations = readClientSituations()
  expect(situations.length).toBeGreaterThan(10)
  const judge = await startClientJudge({ situations: [] })
  onTestFinished(async () => void (await judge.end()))
  expect(judge.requests).toBe(0)
  expect(judge.idleMs).toBe(null)
  expect((await fetch(`${judge.url}/info`)).status).toBe(200)
  expect(judge.requests).toBe(1)
  expect(judge.idleMs).toBeGreaterThanOrEqual(0)
  const report = await judge.end()
  expect(report.cases.find(({ name }) => name.startsWith('requests are HTTP'))).toMatchObject({ outcome: 'passed' })
  expect(report.node).toBe(judge.url)
  expect(await judge.end()).toBe(report)
  await expect(fetch(`${judge.url}/info`)).rejects.toThrow()
})
