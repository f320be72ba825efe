/** The table of limits in SECURITY.md has the numbers of the code. */
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { defaultLimits } from '../../../src/mining/engine/stratum/limits.ts'

const page = readFileSync(new URL('../../../SECURITY.md', import.meta.url), 'utf8')
const [, section] = page.split('### Rigs\n')
const rows = (section.split('\n#')[0].match(/^\| .*\|$/gm) ?? []).map((line) =>
  line.split('|').map((cell) => cell.trim()),
)

const { badUntilBan, banMs, idleMs } = defaultLimits
const count = (value: number) => value.toLocaleString('en')
const kibibytes = (value: number) => `${value / 1024} KiB`
const seconds = (value: number) => `${value / 1000} s`

it.each([
  ['line', kibibytes(defaultLimits.lineBytes)],
  ['requests of a session', `${defaultLimits.requestsPerSecond} a second`],
  ['requests of an address', `${count(defaultLimits.requestsPerSecondOfAddress)} a second`],
  ['data that the client leaves unread', kibibytes(defaultLimits.unsentBytes)],
  ['TLS handshake', seconds(defaultLimits.handshakeMs)],
  ['time to authorize', seconds(defaultLimits.authorizeMs)],
  ['sessions', count(defaultLimits.sessions)],
  ['sessions of an address', count(defaultLimits.sessionsPerAddress)],
  ['low or malformed shares of a worker', `${badUntilBan}, `],
])('the limit of %s is %s', (name, value) => {
  const [, , documented] = rows.find(([, what]) => what === name || what.startsWith(`${name} (`)) ?? []
  expect(documented?.slice(0, value.length)).toBe(value)
})

it('silence may last for a day, and a ban lasts for ten minutes', () => {
  expect(idleMs).toEqual(24 * 3_600_000)
  expect(banMs).toEqual(10 * 60_000)
  const texts = rows.map(([, what, value, then]) => `${what}: ${value}: ${then}`)
  expect(texts).toContain('silence: one day: closed')
  expect(texts.filter((text) => text.includes('refused for ten minutes'))).toHaveLength(2)
})
