/** The facts about rigs in docs/RIGS.md and STRATUM.md against the code. Its refusal tables run in test/engine/stratum. */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { formatDuration } from '../src/ground/base/units.ts'
import { difficultyAfterUser, difficultyInPassword } from '../src/mining/engine/stratum/hints.ts'
import { defaultLimits } from '../src/mining/engine/stratum/limits.ts'
import { MAX_ROLL_MS } from '../src/mining/engine/stratum/rolls.ts'
import { failures } from '../src/mining/stratum/messages.ts'
import { rigRates, secondsPerShare } from '../src/mining/stratum/rig-rates.ts'
import { makers } from '../src/pool/stratum-check/makers.ts'

const page = ['RIGS', 'STRATUM']
  .map((name) => readFileSync(new URL(`../docs/${name}.md`, import.meta.url), 'utf8'))
  .join('\n')

/** Cells of the first table below a heading, without its header. */
function rowsBelow(heading: string): string[][] {
  const [, section = ''] = page.split(`## ${heading}\n`)
  const [table = ''] = /(?:^\|.*\|\n)+/m.exec(section.split(/\n## /)[0]) ?? []
  const lines = table.trim().split('\n').slice(2)
  return lines.map((line) =>
    line
      .slice(1, -1)
      .split('|')
      .map((cell) => cell.trim()),
  )
}

describe('RIGS.md and STRATUM.md', () => {
  it('RIGS.md has the hashrate of every model, and the time between its shares', () => {
    const expected = rigRates.map(({ name, rate }) => {
      const times = [40, 44, 48].map((bits) => formatDuration(1000 * secondsPerShare(2 ** bits, rate)))
      return [name, String(rate / 1e12), ...times]
    })
    expect(rowsBelow('Hashrates')).toEqual(expected)
  })

  it('STRATUM.md has a row for every maker of the check', () => {
    const named = rowsBelow('Makers of the check').flatMap(([names]) => [...names.matchAll(/`([^`]+)`/g)])
    expect(named.map(([, name]) => name)).toEqual(makers.map(({ name }) => name))
  })

  it("RIGS.md has each program's agent string, and how long it waits", () => {
    for (const { agents, isStrict } of makers)
      if (isStrict)
        for (const agent of agents) {
          const [, version] = agent.split('/')
          expect(page).toContain(version ?? agent)
        }
    const silence = Object.fromEntries(makers.map(({ name, silenceMs }) => [name, silenceMs]))
    expect(silence).toMatchObject({ ka3: 60_000, goldshell: 120_000 })
    expect(page).toContain('A line from the server within 60 s')
    expect(page).toContain('leave after 120 s')
    expect(MAX_ROLL_MS).toBeLessThan(30_000)
  })

  it('RIGS.md names hints that the server understands', () => {
    const hints = [...page.matchAll(/`((?:d|diff)=[^`]+)`/g)].map(([, hint]) => hint)
    expect(new Set(hints)).toEqual(new Set(['d=2^50', 'd=1.1e15', 'diff=2^50']))
    for (const hint of hints) expect(difficultyInPassword(hint)).toBeGreaterThan(1e15)
    expect(page).toContain('`KEY.WORKER+2^50`')
    expect(difficultyAfterUser('KEY.WORKER+2^50')).toEqual({ user: 'KEY.WORKER', difficulty: 2 ** 50 })
  })

  it('STRATUM.md has the limits of the server', () => {
    const { sessionsPerAddress, sessions, lineBytes, unsentBytes, badUntilBan, requestsPerSecond } = defaultLimits
    const numbers = [sessionsPerAddress, sessions, lineBytes].map((number) => number.toLocaleString('en'))
    for (const number of numbers) expect(page).toContain(number)
    expect(page).toContain(`${unsentBytes / 1024} KiB wait`)
    expect(page).toContain(`${badUntilBan} malformed or low shares in five minutes`)
    expect(page).toContain(`more than ${requestsPerSecond} requests in a second`)
    expect(defaultLimits).toMatchObject({
      banMs: 10 * 60_000,
      authorizeMs: 30_000,
      idleMs: 24 * 3_600_000,
      handshakeMs: 10_000,
    })
  })

  it('STRATUM.md has every refusal code, as PROTOCOL.md does', () => {
    const protocol = readFileSync(new URL('../docs/PROTOCOL.md', import.meta.url), 'utf8')
    const [, line = ''] = /- \*\*Errors\*\* are([\s\S]*?)\n- /.exec(protocol) ?? []
    const codes = Object.values(failures).map(({ code }) => code)
    for (const code of codes) if (code > 0) expect(line).toContain(String(code))
    const refused = [...rowsBelow('Refused shares'), ...rowsBelow('Requests that are refused')]
    const listed = refused.flatMap(([, code]) => (code === '' ? [] : [Number(code)]))
    expect([...new Set(listed)].toSorted()).toEqual(codes.toSorted())
    const texts = refused.map(([, code, text]) => `${code} ${text}`)
    for (const { code, message } of Object.values(failures)) {
      if (code !== failures.malformed.code) expect(texts).toContain(`${code} ${message}`)
    }
  })
})
