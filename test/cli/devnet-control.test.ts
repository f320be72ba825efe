/** `newcut devnet mine`, `fork`, `time` and so on as a user types them, at a development network of their own. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type RunningHere, run, startHere, stopAll } from './run.ts'

const KEY = 'ab'.repeat(32)
/** No transaction has this key, which looks like a flag. */
const DASHED = `-${'A'.repeat(42)}`
let node: RunningHere
let url: string

beforeAll(async () => {
  node = startHere(['devnet', '--port', '0', '--auto-mine', 'on-demand', '--graph', 'pair'])
  url = (await node.sees(/ at (http:\/\/127\.0\.0\.1:\d+)\n/))[1]
})
afterAll(() => stopAll())

/** The output of a command that succeeds. */
async function control(...args: string[]): Promise<string> {
  const { code, out, err } = await run(['devnet', ...args], { NEWCUT_NODE: url })
  expect({ code, err }).toEqual({ code: 0, err: '' })
  return out
}

/** The error of a command, with its exit code. */
async function refusal(...args: string[]): Promise<{ readonly code: number | null; readonly err: string }> {
  const { code, out, err } = await run(['devnet', ...args], { NEWCUT_NODE: url })
  expect(out).toBe('')
  return { code, err }
}

const heights = async () => JSON.parse(await control('status', '--json')).heights

describe('control requests of the command line', () => {
  it('newcut devnet mine makes blocks on every chain or on one, and counts those of neighbours', async () => {
    expect(await control('reset')).toBe('the network is as at its start; height 0\n')
    expect(await control('mine')).toBe('made 2 blocks on 2 chains; height 1\n')
    expect(await control('mine', '3')).toBe('made 6 blocks on 2 chains; height 4\n')
    expect(await control('mine', '2', '--chain', '1')).toMatch(/^made [34] blocks on 2 chains; heights 5 to 6\n$/)
    expect((await heights())[1]).toBe(6)
  })

  it('newcut devnet mine counts the transactions of its blocks', async () => {
    const sent = await run(['send', '(+ 1 2)', '--key', 'sender00', '--no-wait'], { NEWCUT_NODE: url })
    expect(sent.code).toBe(0)
    expect(await control('mine', '--chain', '0')).toContain(', with 1 transaction; ')
  })

  it('newcut devnet fork replaces blocks of a chain, and of neighbours that depend on them', async () => {
    await control('mine', '4')
    const before = await heights()
    expect(await control('fork', '2')).toMatch(/^replaced 2 blocks of chain 0( and \d of other chains)?; height/)
    const after = await heights()
    expect(after[0]).toBeGreaterThan(before[0])
  })

  it('newcut devnet snapshot and revert restore the chains, by number or the newest', async () => {
    await control('reset')
    expect(await control('snapshot')).toBe('snapshot 1, height 0; newcut devnet revert 1 restores it\n')
    await control('mine', '2')
    expect(await control('snapshot')).toBe('snapshot 2, height 2; newcut devnet revert 2 restores it\n')
    await control('mine')
    expect(await control('revert')).toBe('restored snapshot 2; height 2\n')
    expect(await control('revert', '1')).toBe('restored snapshot 1; height 0\n')
    expect(await refusal('revert')).toMatchObject({
      code: 1,
      err: expect.stringContaining('the network has no snapshot'),
    })
    expect(await refusal('revert', '7')).toMatchObject({ code: 21, err: expect.stringContaining('no snapshot 7') })
  })

  it('newcut devnet time shows, moves and sets the clock', async () => {
    await control('reset')
    expect(await control('time')).toMatch(/^the clock shows \d{4}-.*Z\n$/)
    expect(await control('time', '+1h')).toMatch(/Z, (1 h|59 m \d+ s) ahead\n$/)
    expect(await control('time', '-30m')).toMatch(/Z, (30 m|29 m \d+ s|30 m \d+ s) ahead\n$/)
    expect(await control('time', '2040-01-01')).toContain('the clock shows 2040-01-01T00:00:00.')
    expect(await control('time', '2041-01-01', '--next-block')).toBe(
      'the clock stands still at 2041-01-01T00:00:00.000Z until the next block\n',
    )
    expect(JSON.parse(await control('time', '--json')).nowMs).toBe(Date.parse('2041-01-01'))
    await control('reset')
  })

  it('newcut devnet fund, impersonate and drop answer in words', async () => {
    expect(await control('fund', 'sender00', '5')).toMatch(
      /^5\.0 coins for sender00 on chain 0, which now has 1\d+\.0\n$/,
    )
    expect(await control('impersonate', `k:${KEY}`)).toBe(`the node checks no signatures of ${KEY}\n`)
    expect(await control('status')).toContain(`impersonation: ${KEY}\n`)
    expect(await control('impersonate', `k:${KEY}`, '--off')).toBe('the node checks all signatures\n')
    expect(await control('drop')).toBe('no transaction was pending\n')
    const sent = await run(['send', '(+ 1 3)', '--key', 'sender00', '--no-wait', '--json'], { NEWCUT_NODE: url })
    const { requestKey } = JSON.parse(sent.out)
    expect(await control('drop', requestKey, DASHED)).toBe(
      `dropped ${requestKey} on chain 0\n${DASHED} was not pending\n`,
    )
  })

  it('newcut devnet faults makes the next calls fail, lists the faults, and ends them', async () => {
    const set = await control('faults', 'cut', '2', '--status', '503', '--body', 'busy', '--delay', '1ms')
    const line = 'cut: status 503 and a body of the fault and a delay of 1 ms for the next 2 calls\n'
    expect(set).toBe(line)
    expect(await control('faults')).toBe(line)
    const answer = await fetch(`${url}/chainweb/0.0/development/cut`)
    expect(answer.status).toBe(503)
    expect(await answer.text()).toBe('busy')
    expect(await control('faults', 'cut', '0')).toBe('all endpoints work\n')
  })

  it.each([
    [['mien'], /^newcut: devnet mien: no such command; did you mean devnet mine\? \(newcut --help/],
    [['mine', '0'], /^newcut: COUNT 0: expected a whole number of at least 1 /],
    [['mine', 'x'], /^newcut: COUNT x: expected a whole number of at least 1 /],
    [['mine', '--chain', '33'], /^newcut: --chain 33: development has chains 0 to 1 /],
    [['time', 'soon'], /^newcut: soon is not a time or a step of time \(for example \+1h/],
    [['time', '+1h', '--next-block'], /^newcut: \+1h is not a time or a step of time/],
    [['drop', 'xyz'], /^newcut: devnet drop xyz: not a request key \(expected the 43 characters that newcut send/],
    [['faults', 'ct'], /^newcut: ct: no such endpoint; did you mean cut\?/],
    [['faults', 'cut'], /^newcut: a fault of cut needs an effect \(give --status, --body or --delay\)/],
  ])('newcut devnet %j ends with 2 and names what is right', async (args, expected) => {
    expect(await refusal(...args)).toEqual({ code: 2, err: expect.stringMatching(expected) })
  })

  it('newcut devnet --help lists the control requests', async () => {
    const { out } = await run(['devnet', '--help'])
    expect(out.replaceAll('\n', ' ')).toMatch(/newcut devnet status, mine, .* and faults control it\./)
  })
})
