/** Parts of the runner of cases, without a whole node: what it asks, judges and reports. */
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { CaseStep, ConformanceCase } from '../../src/client/conformance/case-file.ts'
import { CaseRun } from '../../src/client/conformance/case-run.ts'
import { findHashComplaint } from '../../src/client/conformance/hash-of.ts'
import { probe } from '../../src/client/conformance/probe.ts'
import { caseSummaryLines, junitXml } from '../../src/client/conformance/report.ts'
import { type CaseResult, runCases } from '../../src/client/conformance/run.ts'
import { partOf } from '../../src/client/conformance/variables.ts'
import { HttpTransport } from '../../src/client/conformance/wire.ts'
import { caseNeeds } from '../../src/client/conformance/words.ts'
import { systemClock } from '../../src/ground/platform/clock.ts'
import { until } from '../wait.ts'

const NEVER = new AbortController().signal
const TIMEOUT_MS = 60_000

/** A server that answers with what `answer` gives for a method and path. */
async function server(answer: (request: string, response: http.ServerResponse) => void): Promise<string> {
  const made = http.createServer(({ method, url }, response) => answer(`${method} ${url}`, response))
  await new Promise<void>((resolve) => made.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void made.close().closeAllConnections())
  return `http://127.0.0.1:${(made.address() as AddressInfo).port}`
}

function wireTo(url: string): HttpTransport {
  const wire = new HttpTransport({ url, clock: systemClock, timeoutMs: TIMEOUT_MS })
  onTestFinished(() => wire.close())
  return wire
}

const INFO = { nodeVersion: 'testing', nodePackageVersion: '0.1', nodeChains: ['10', '2'], nodeGraphHistory: [] }

/** Probes a node with this description. */
async function probeNode(info: object, headers: Readonly<Record<string, string>> = {}, isNewcut = true) {
  const asked: string[] = []
  const url = await server((request, response) => {
    asked.push(request)
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value)
    response.statusCode = isNewcut || !request.includes('/devnet/') ? 200 : 404
    response.end(JSON.stringify({ ...INFO, ...info }))
  })
  const wanted = new Set(caseNeeds)
  return { ...(await probe({ wire: wireTo(url), clock: systemClock, signal: NEVER, wanted })), asked }
}

describe('a node', () => {
  it.each([
    ['0.1', 'newcut'],
    ['1.9', 'newcut'],
    ['2.32.1', 'live 2.32'],
    ['3.0', 'live 3.2'],
  ])('a node of version %s without control requests is judged as %s', async (nodePackageVersion, release) => {
    expect((await probeNode({ nodePackageVersion }, {}, false)).release).toBe(release)
  })

  it('a node with the control requests of newcut is judged as newcut, whatever release it follows', async () => {
    expect((await probeNode({ nodePackageVersion: '3.2' })).release).toBe('newcut')
  })

  it.each(['mainnet01', 'testnet04', 'testnet05', 'testnet06', 'evm-testnet'])(
    'a node of %s is only read',
    async (name) => {
      const { asked, offers } = await probeNode({ nodeVersion: name })
      expect(asked).toEqual(['GET /info'])
      expect(offers).toMatchObject({ 'read-only': null, mine: `${name} is a public network` })
    },
  )

  it('a node has a first chain, and a neighbour in the newest graph', async () => {
    const graphs = [
      [0, [[2, [7]]]],
      [90, [[2, [10]]]],
      [8, [[2, [5]]]],
    ]
    const { variables } = await probeNode({ nodeGraphHistory: graphs }, { 'x-other-node-version': '1' })
    expect(Object.fromEntries(variables)).toMatchObject({
      chain: '2',
      chains: ['2', '10'],
      neighbour: '10',
      product: 'other',
      base: '/other/0.0/testing',
    })
  })

  it('a node may live below a path', async () => {
    const url = await server((request, response) => response.end(request))
    const answer = await wireTo(`${url}/below/it/`).request(
      { method: 'GET', path: '/x', headers: {}, body: null },
      NEVER,
    )
    expect(Buffer.from(answer.body).toString()).toBe('GET /below/it/x')
  })
})

it('the runner reads events of several lines, of no data, and of no name', async () => {
  const url = await server((_, response) => {
    response.write('event: a\r\ndata: 1\ndata:  2\r\n\r\nevent:New Cut\n\n: a comment\n\ndata:x\n\n')
    response.end('event:torn')
  })
  const stream = await wireTo(url).stream({ method: 'GET', path: '/', headers: {}, body: null }, NEVER)
  const events = []
  for (let event = await stream.next(TIMEOUT_MS); event !== null; event = await stream.next(TIMEOUT_MS))
    events.push(event)
  expect(events).toEqual([
    { name: 'a', data: '1\n 2' },
    { name: 'New Cut', data: '' },
    { name: 'message', data: 'x' },
  ])
})

describe('a case', () => {
  /** Runs these steps at a server. `skewS`: how far its clock is ahead. */
  function caseRun(url: string, steps: readonly CaseStep[], skewS = 0): CaseRun {
    const variables = new Map<string, unknown>([['chain', '0']])
    const known = { network: 'testing', packageVersion: '0', release: 'newcut', offers: {}, variables, nowS: 0 }
    const options = {
      clock: systemClock,
      signal: NEVER,
      timeoutMs: TIMEOUT_MS,
      number: 0,
      skewS,
      release: 'newcut',
    } as const
    const of = { group: 'g', name: 'n', needs: ['read-only'], steps } as unknown as ConformanceCase
    const run = new CaseRun(of, { ...options, probed: known as never, wire: wireTo(url) })
    onTestFinished(() => run.close())
    return run
  }

  it('a case makes commands by the clock of the node', async () => {
    const url = await server((_, response) => response.end())
    const nowS = Math.floor(systemClock.wallMs() / 1000) + 5000
    const json = { meta: { creationTime: { $all: [{ $min: nowS }, { $max: nowS + 600 }] } } }
    const steps = [
      { make: 'command', with: { chain: 0, code: '1', after: 0 }, expect: { value: { cmd: { $json: json } } } },
    ]
    expect(await caseRun(url, steps as CaseStep[], 5000).run()).toBe(null)
  })

  it('a case fails with the number and the call of its step, and with the text of an unexpected status', async () => {
    const url = await server((_, response) => response.writeHead(418).end('a teapot'))
    const step = { call: 'GET', path: '/$' }
    const failure = await caseRun(url, [step, { ...step, expect: { status: [200, 404] } }]).run()
    expect(failure).toEqual({
      step: 2,
      call: 'GET /$',
      at: 'status',
      expected: 'one of [200,404]',
      got: '418: "a teapot"',
    })
  })

  it('a case fails if a call in the background breaks', async () => {
    const url = await server((_, response) => response.destroy())
    const failure = await caseRun(url, [{ call: 'GET', path: '/x', start: 'late' }, { await: 'late' }]).run()
    expect(failure).toMatchObject({ step: 2, call: 'GET /x', at: 'answer', expected: 'an answer' })
  })

  it('a case closes its streams when it ends', async () => {
    let isOpen = false
    const url = await server((_, response) => {
      isOpen = true
      response.on('close', () => {
        isOpen = false
      })
      response.writeHead(200).flushHeaders()
    })
    const run = caseRun(url, [{ call: 'GET', path: '/updates', stream: 's' }])
    expect(await run.run()).toBe(null)
    expect(isOpen).toBe(true)
    run.close()
    await until(() => !isOpen)
  })

  it('a case fails by the last event that did not fit, or because none came', async () => {
    const url = await server((request, response) => {
      response.end(request.endsWith('/some') ? 'event:a\ndata:1\n\nevent:a\ndata:2\n\n' : '')
    })
    const failureAt = (path: string) =>
      caseRun(url, [
        { call: 'GET', path, stream: 's' },
        { event: 's', expect: { event: { name: 'a', data: 3 } } },
      ]).run()
    expect(await failureAt('/some')).toMatchObject({
      step: 2,
      call: 'GET /some',
      at: 'event.data',
      expected: '3',
      got: '2, and no later event fits',
    })
    expect(await failureAt('/none')).toMatchObject({ at: 'event', expected: '{"name":"a","data":3}', got: 'none' })
  })

  it('a case leaves out a header that is null', async () => {
    const url = await server((_, response) => response.end(JSON.stringify(response.req.headers)))
    const json = { accept: { $absent: true }, 'x-own': 'v' }
    expect(
      await caseRun(url, [{ call: 'GET', path: '/', headers: { accept: null, 'x-own': 'v' }, expect: { json } }]).run(),
    ).toBe(null)
  })
})

it('the runner takes the clock of a node from its timestamp, in seconds, and the time that a case took', async () => {
  const aheadS = 100_000
  const nowS = Math.floor(systemClock.wallMs() / 1000) + aheadS
  const url = await server((_, response) => {
    response.setHeader('x-server-timestamp', String(nowS)).end(JSON.stringify(INFO))
  })
  const json = { meta: { creationTime: { $all: [{ $min: nowS - 5 }, { $max: nowS + 600 }] } } }
  const steps = [
    { make: 'command', with: { chain: 0, code: '1', after: 0 }, expect: { value: { cmd: { $json: json } } } },
  ]
  const cases = [{ group: 'g', name: 'n', needs: ['read-only'], steps }] as unknown as ConformanceCase[]
  // Each reading of the clock is three milliseconds later.
  let readMs = 0
  const clock = { ...systemClock, monotonicMs: () => (readMs += 3) }
  const options = { url, clock, timeoutMs: TIMEOUT_MS, cases, release: null, needs: null, signal: NEVER }
  const { cases: results } = await runCases(options)
  expect(results).toMatchObject([{ outcome: 'passed', failure: null }])
  expect(results[0].durationMs).toBeGreaterThanOrEqual(3)
})

describe('the report', () => {
  const result = (parts: Partial<CaseResult>): CaseResult => {
    return { group: 'g', name: 'n', outcome: 'passed', durationMs: 1500, reason: null, failure: null, ...parts }
  }
  const skippedResult = (reason: string) => result({ outcome: 'skipped', reason })
  const report = (...cases: readonly CaseResult[]) => {
    return { node: 'http://n', network: 'x', packageVersion: '1', release: 'newcut', offers: {}, cases } as never
  }

  it('the report counts skipped cases by their reason', () => {
    expect(caseSummaryLines(report(skippedResult('a'), result({}), skippedResult('b'), skippedResult('a')))).toEqual([
      'skipped 2: a',
      'skipped 1: b',
      '1 passed, 0 failed, 3 skipped',
    ])
  })

  it('the report has seconds in JUnit, and escapes quotes', () => {
    const lines = junitXml(report(result({ name: 'a "b" & <c>' }), result({ group: 'h' }))).split('\n')
    expect(lines.slice(1, 5)).toEqual([
      '<testsuites name="newcut conformance http://n" tests="2" failures="0" time="3">',
      '  <testsuite name="g" tests="1" failures="0" skipped="0" time="1.5">',
      '    <testcase classname="g" name="a &quot;b&quot; &amp; &lt;c&gt;" time="1.5"/>',
      '  </testsuite>',
    ])
  })
})

it('hashComplaint compares each hash of a payload', () => {
  const text = (json: unknown) => Buffer.from(JSON.stringify(json)).toString('base64url')
  const payload: Record<string, unknown> = {
    minerData: text({}),
    coinbase: text({ c: 1 }),
    transactions: [[text({ t: 1 }), text({ o: 1 })]],
  }
  for (const name of ['transactionsHash', 'outputsHash', 'payloadHash']) {
    const { expected = '' } = findHashComplaint('payload', payload) ?? {}
    expect(expected.split(' ')[0]).toBe(name)
    payload[name] = expected.split(/[ ,]/)[1]
  }
  expect(findHashComplaint('payload', payload)).toBe(null)
})

it('partOf finds the last item of a list by -1', () => {
  expect(partOf({ list: [1, 2, 3] }, ['list', '-1'])).toBe(3)
})
