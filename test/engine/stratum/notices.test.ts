/** The server reports on the console: refused shares, strangers, and users who cannot be paid. */
import { afterEach, describe, expect, it } from 'vitest'
import type { RigNotice } from '../../../src/mining/accounts/rig-ledger.ts'
import { UnknownConnections } from '../../../src/mining/engine/stratum/strangers.ts'
import { temporaryFolder } from '../../accounts/shares.ts'
import { UNREACHABLE } from '../../support/work.ts'
import { until } from '../../wait.ts'
import { connected, loggedIn, startedServer, stopServers, workOf } from './servers.ts'
import { keeping } from './share-logs.ts'

afterEach(stopServers)

describe('the console reports', () => {
  it('the console reports 50 refused shares once, with the reason, and the recovery of the rig once', async () => {
    const { engine, port, notices } = await keeping(temporaryFolder())
    await engine.setWork(workOf(1, UNREACHABLE))
    const user = `k:${'ab'.repeat(32)}`
    const rig = await loggedIn(port, `${user}.shelf-1`)
    await until(() => rig.jobs.length > 0)
    for (let i = 0; i < 70; i++) await rig.submit('1', '000000000000')
    expect(notices.filter(({ type }) => type === 'warning')).toEqual([
      {
        type: 'warning',
        message: expect.stringMatching(/^the last 50 shares of shelf-1 of k:(ab){32} were all refused; .*unknown job/),
      },
    ])
    expect(engine.status().rigs).toMatchObject([{ device: 'rig:shelf-1', refusedAs: 'unknown job' }])
  })

  it('the console reports the first refused line of a worker, and connections that never log in with their first line', async () => {
    const { engine, port, notices } = await keeping(temporaryFolder())
    await engine.setWork(workOf(1, UNREACHABLE))
    const rig = await loggedIn(port, 'k:abc.shelf-1')
    for (const nonce of ['zz', 'yy']) await rig.submit('1', nonce)
    const strange = await connected(port)
    await strange.ask('mining.get_transactions', ['txlist'])
    const silent = await connected(port)
    for (const each of [strange, silent]) each.close()
    const details = () => notices.filter(({ type }) => type === 'detail').map(({ message }) => message)
    await until(() => details().length >= 3)
    expect(details().toSorted()).toEqual([
      'a connection from 127.0.0.1 ended without a log-in; it sent nothing',
      'a connection from 127.0.0.1 ended without a log-in; its first line was: {"id":1,"method":"mining.get_transactions","params":["txlist"]}',
      'first refused share of rig:shelf-1 of k:abc: malformed; its line was: {"id":3,"method":"mining.submit","params":["k:abc.rig","1","zz"]}',
    ])
  })

  it('the console reports a flood of such connections as a count', async () => {
    const { port, notices } = await keeping(temporaryFolder())
    for (let i = 0; i < 45; i++) (await connected(port)).close()
    await until(() => notices.some(({ message }) => /^\d+ more connections ended without a log-in$/.test(message)))
    expect(notices.filter(({ message }) => message.includes('it sent nothing')).length).toBeLessThanOrEqual(40)
  })

  it('the console reports at most 20 refused lines a second, and the number of further ones, in printable text', () => {
    const told: string[] = []
    const strangers = new UnknownConnections((message) => told.push(message))
    for (let n = 0; n < 25; n++) strangers.tell('10.0.0.1', '')
    strangers.refill()
    expect(told.splice(0).slice(20)).toEqual(['5 more connections ended without a log-in'])
    strangers.refill()
    expect(told).toEqual([])
    strangers.tell('10.0.0.1', '\u001b[31mred')
    expect(told).toEqual(['a connection from 10.0.0.1 ended without a log-in; its first line was: [31mred'])
  })

  it('the console reports what happened before it started', async () => {
    const { engine, port } = await startedServer()
    const rig = await connected(port)
    await until(() => engine.status().sessions === 1)
    rig.close()
    await until(() => engine.status().sessions === 0)
    const notices: RigNotice[] = []
    engine.setNoticeListener((notice) => notices.push(notice))
    const message = 'a connection from 127.0.0.1 ended without a log-in; it sent nothing'
    expect(notices).toEqual([{ type: 'detail', message }])
  })

  it('the console reports a refused line in printable text, of at most 300 characters', async () => {
    const { port, notices } = await keeping(temporaryFolder())
    const rig = await loggedIn(port, 'k:abc.shelf-1')
    await rig.submit('1', `\u202e${'z'.repeat(1000)}`)
    const [{ message }] = notices.filter(({ type }) => type === 'detail')
    const [, line] = message.split('its line was: ')
    expect(line.length).toBe(300)
    expect(line.at(-1)).toBe('…')
    expect(line.includes('\u202e')).toBe(false)
  })

  it('the console reports 256 users who cannot be paid, and that there are more', async () => {
    const { port, notices } = await keeping(temporaryFolder())
    for (let n = 0; n < 300; n += 100) {
      const rig = await loggedIn(port, `bob${n}.x`)
      await Promise.all(Array.from({ length: 99 }, (_, i) => rig.authorize(`bob${n + i + 1}.x`)))
    }
    const warnings = notices.filter(({ type }) => type === 'warning').map(({ message }) => message)
    expect(warnings).toHaveLength(257)
    expect(warnings[255]).toMatch(/^newcut payouts cannot pay the user bob255: /)
    expect(warnings[256]).toBe(
      'newcut payouts cannot pay more than 256 users who have logged in; further ones are not named',
    )
  })
})
