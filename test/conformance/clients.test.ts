/** `newcut conformance --serve`: our own clients pass, and clients with one defect each do not. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { ownCases } from '../../src/client/conformance/case-file.ts'
import { clientRules } from '../../src/client/conformance/clients/judge.ts'
import { ClientServer } from '../../src/client/conformance/clients/serve.ts'
import { readSituations } from '../../src/client/conformance/clients/situation-file.ts'
import type { CaseResult } from '../../src/client/conformance/run.ts'
import type { Devnet } from '../../src/compose/devnet.ts'
import { startDevnet } from '../../src/compose/devnet.ts'
import type { Clock } from '../../src/ground/base/clock.ts'
import { systemClock } from '../../src/ground/platform/clock.ts'
import {
  askerOf,
  BASE,
  lostAnswer,
  PACT,
  resultOf,
  ruleDefects,
  situationDefects,
  solvedWork,
} from './client-defects.ts'
import { innocents } from './client-innocents.ts'

const situations = readSituations(join(ownCases(), 'clients'))

let node: Devnet
beforeAll(async () => {
  node = await startDevnet({
    port: 0,
    graph: 'pair',
    difficulty: 100n,
    autoMine: { kind: 'on-arrival', confirmations: 5 },
  })
})
afterAll(() => node.close())

/** Serves the node to a client, with these situations. */
async function serve(only: string) {
  // Time stands still but for `pass`: no verdict depends on the speed of the machine.
  let nowMs = 0
  const clock: Clock = { ...systemClock, monotonicMs: () => nowMs }
  const server = new ClientServer({
    host: '127.0.0.1',
    port: 0,
    node: node.url,
    clock,
    served: { network: 'development', chains: 2, blockGas: 150_000 },
    situations: situations.filter(({ group, name }) => `${group}: ${name}` === only),
  })
  const url = await server.listen()
  onTestFinished(() => server.close())
  const pass = (ms: number) => {
    nowMs += ms
  }
  const verdict = () => server.judge.verdict(clock.monotonicMs())
  return { url, pass, verdict, asker: askerOf(url, pass) }
}

const failedNamesOf = (cases: readonly CaseResult[]) =>
  cases.filter(({ outcome }) => outcome === 'failed').map(({ group, name }) => `${group}: ${name}`)

describe('a client with one defect', () => {
  it.each(ruleDefects)('a rule catches a client with one defect: $name', async ({ client, caughtBy }) => {
    const { asker, verdict } = await serve('')
    await client(asker)
    expect(failedNamesOf(verdict())).toContain(caughtBy)
  })

  it.each(situationDefects)(
    'a situation catches a client with one defect: $name',
    async ({ client, caughtBy, givesUp }) => {
      const { asker, verdict } = await serve(caughtBy)
      await client(asker)
      const cases = verdict()
      const gaveUp = cases.filter((each) => each.gaveUp !== null).map(({ group, name }) => `${group}: ${name}`)
      expect(failedNamesOf(cases)).toEqual(givesUp === true ? [] : [caughtBy])
      expect(gaveUp).toEqual(givesUp === true ? [caughtBy] : [])
    },
  )

  it('every rule catches the defect of some client', () => {
    const caught = new Set(ruleDefects.map(({ caughtBy }) => caughtBy))
    expect(clientRules.map(({ group, rule }) => `${group}: ${rule.name}`).filter((name) => !caught.has(name))).toEqual(
      [],
    )
  })

  it.each(innocents)('a client without a defect passes: $name', async ({ client, meets }) => {
    const { asker, verdict } = await serve(meets)
    await client(asker)
    const cases = verdict()
    expect(failedNamesOf(cases)).toEqual([])
    const met = cases.filter(({ outcome, gaveUp }) => outcome === 'passed' || gaveUp !== null)
    expect(met.map(({ group, name }) => `${group}: ${name}`)).toContain(meets)
  })

  it('a careful client passes every rule', async () => {
    const { asker, verdict } = await serve('')
    const { ask, command } = asker
    const page = JSON.parse((await ask('GET', `${BASE}/chain/0/hash?limit=1`)).body.toString())
    await ask('GET', `${BASE}/chain/0/hash?limit=1&next=${page.next}`)
    const sent = command()
    await ask('POST', `${PACT}/send`, { json: { cmds: [sent] } })
    await resultOf(asker, sent.hash)
    expect(failedNamesOf(verdict())).toEqual([])
    expect(verdict().filter(({ outcome }) => outcome === 'passed').length).toBeGreaterThan(10)
  })
})

describe('the server', () => {
  it('the server lets web pages read refusals and unknown paths, and keeps connections as long as the node', async () => {
    const { url } = await serve('busy: a proxy answers the cut with 429 and Retry-After')
    const busy = await fetch(`${url}${BASE}/cut`)
    const unknown = await fetch(`${url}/eth_call`)
    const usual = await fetch(`${node.url}${BASE}/cut`)
    expect(busy.status).toBe(429)
    expect(unknown.status).toBe(404)
    for (const { headers } of [busy, unknown]) {
      expect(headers.get('access-control-allow-origin')).toBe('*')
      expect(headers.get('access-control-expose-headers')).toBe('retry-after')
      expect(headers.get('keep-alive')).toBe(usual.headers.get('keep-alive'))
    }
  })

  it('the server counts a solution as taken only if the client got the answer', async () => {
    const { asker, verdict } = await serve('')
    const bytes = await solvedWork(asker)
    await lostAnswer(asker, bytes)
    asker.pass(5000)
    await asker.ask('POST', `${BASE}/mining/solved`, { bytes })
    expect(failedNamesOf(verdict())).toEqual([])
  })
})

it('the server passes no answer on that is longer than 32 MiB, and reads no more of it', async () => {
  const part = Buffer.alloc(1024 * 1024, 'a')
  let sent = 0
  const long = createServer((_, response) => {
    const more = () => {
      sent += part.length
      response.write(part, (error) => {
        if (!error && sent < 64 * part.length) more()
        else response.end()
      })
    }
    more()
  })
  await new Promise<void>((resolve) => long.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void long.close().closeAllConnections())
  const server = new ClientServer({
    host: '127.0.0.1',
    port: 0,
    node: `http://127.0.0.1:${(long.address() as AddressInfo).port}`,
    clock: systemClock,
    served: { network: 'development', chains: 2, blockGas: 150_000 },
    situations: [],
  })
  const url = await server.listen()
  onTestFinished(() => server.close())
  await expect(fetch(`${url}/info`)).rejects.toThrow()
  // The rest was on its way between the two.
  expect(sent).toBeLessThan(64 * part.length)
})
