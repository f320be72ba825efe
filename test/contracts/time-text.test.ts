import fc from 'fast-check'
import { expect, it } from 'vitest'
import { formatTime, ISO_MICROS, ISO_SECONDS, parseTime } from '../../src/language/contracts/values/time-text.ts'
import { Time } from '../../src/language/contracts/values/value.ts'
import { times } from './values.ts'

const at = (iso: string, micros = 0n) => new Time(BigInt(Date.parse(iso)) * 1000n + micros)

it('the calendar agrees with that of JavaScript from year 0 to 9999', () => {
  fc.assert(
    fc.property(times, (time) => {
      const date = new Date(Number(time.micros / 1_000_000n) * 1000 - (time.micros % 1_000_000n < 0n ? 1000 : 0))
      const text = formatTime(ISO_SECONDS, time)
      expect(text).toBe(date.toISOString().replace('.000Z', 'Z'))
      expect(formatTime('%w', time)).toBe(`${date.getUTCDay()}`)
      const newYear = new Date(date)
      newYear.setUTCMonth(0, 1)
      expect(Number(formatTime('%j', time))).toBe(Math.floor((date.getTime() - newYear.getTime()) / 86_400_000) + 1)
    }),
    { numRuns: 1000 },
  )
})

it('a formatted time reads back', () => {
  const formats = [
    ISO_MICROS,
    '%F %T%Q',
    '%G-W%V-%u %X.%v %Z',
    '%Y %U %w %H%M%S %v %z',
    '%Y/%W/%u %R:%S%Q %N',
    '%C%y %j %r%Q',
    '%a, %_d %b %Y %k:%M:%S.%v %p',
    '%A %e %B %Y, %l:%M:%S.%v %P',
    '%f%g %V %a %T.%v',
  ]
  fc.assert(
    fc.property(times, fc.constantFrom(...formats), (time, format) => {
      // A century below 0 does not have two digits.
      fc.pre(!format.startsWith('%f') || time.micros > -62_100_000_000_000_000n)
      const text = formatTime(format, time)
      expect(parseTime(format, text), `${format} | ${text}`).toEqual(time)
    }),
    { numRuns: 2000 },
  )
})

it('a format of times may have every directive', () => {
  const time = at('2005-01-02T00:07:09Z', 50_400n)
  const written: Record<string, string> = {
    'Y y C': '2005 05 20',
    'm B b h': '01 January Jan Jan',
    'd e j': '02  2 002',
    'A a u w': 'Sunday Sun 7 0',
    'U W V G g f': '01 00 53 2004 04 20',
    'H k I l': '00  0 12 12',
    'p P': 'AM am',
    'M S': '07 09',
    'v q Q': '050400 050400000000 .0504',
    s: '1104624429',
    'z N Z': '+0000 +00:00 UTC',
    D: '01/02/05',
    F: '2005-01-02',
    T: '00:07:09',
    R: '00:07',
    x: '01/02/05',
    X: '00:07:09',
    r: '12:07:09 AM',
    c: 'Sun Jan  2 00:07:09 UTC 2005',
    '%': '%',
    '!': '%!',
    '-d _d 0d': '02 02 02',
  }
  for (const [letters, text] of Object.entries(written)) {
    expect(formatTime(letters.replace(/\S+/g, '%$&'), time), letters).toBe(text)
  }
  expect(formatTime('100%', time)).toBe('100%')
  expect(formatTime('%Q', at('2005-01-02T00:00:00Z'))).toBe('')
})

it('common date formats are read', () => {
  expect(parseTime('%Y-%m-%d', ' 2016-07-22 ')).toEqual(at('2016-07-22T00:00:00Z'))
  expect(parseTime('%Y%m%d', '20160722')).toEqual(at('2016-07-22T00:00:00Z'))
  expect(parseTime('%F %T %z', '2016-07-22 10:00:00 +0230')).toEqual(at('2016-07-22T07:30:00Z'))
  expect(parseTime('%d %b %y', '22 JUL 69')).toEqual(at('1969-07-22T00:00:00Z'))
  expect(parseTime('%F', '2015-02-31')).toEqual(at('2015-02-28T00:00:00Z'))
  expect(parseTime('%e/%m/%Y', '1/07/2016')).toEqual(at('2016-07-01T00:00:00Z'))
  expect(parseTime('%s', '-1')).toEqual(new Time(-1_000_000n))
  expect(parseTime('%S%Q', '00.0000014')).toEqual(new Time(1n))
})

it('a time that does not match its format is refused', () => {
  const wrong = [
    ['%F', '2016-07'],
    ['%F', 'x'],
    ['%F', '2016-07-22x'],
    ['%!', '!'],
    ['%H', '1'],
    ['%b', 'Foo'],
    ['%v', ''],
    ['%Y', '999999999'],
    ['%s', '99999999999999999999'],
    ['%', ''],
    ['%z', '+1'],
  ]
  for (const [format, text] of wrong) expect(parseTime(format, text), `${format} ${text}`).toBeNull()
})

it('an ambiguous format is not read in all possible ways, which would take forever', () => {
  expect(parseTime('%Y '.repeat(60), `${'2010 '.repeat(60)}x`)).toBeNull()
  expect(parseTime('%e'.repeat(200), '1'.repeat(399))).not.toBeNull()
  expect(parseTime('%Y'.repeat(100), `${'1'.repeat(401)}x`)).toBeNull()
})
