import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { localTime } from '../../src/ground/platform/clock.ts'
import { clockText, isOpen, nextChangeMs, parseSchedule, type Schedule } from '../../src/mining/mine/schedule.ts'

function schedule(text: string): Schedule {
  const parsed = parseSchedule(text)
  if ('problem' in parsed) throw new Error(parsed.problem)
  return parsed
}

const zone = process.env.TZ
beforeEach(() => {
  process.env.TZ = 'Europe/Berlin'
})
afterEach(() => {
  if (zone === undefined) delete process.env.TZ
  else process.env.TZ = zone
})

/** In Berlin time. */
const at = (text: string) => new Date(text).getTime()
const open = (text: string, time: string) => isOpen(schedule(text), localTime(at(time)))
const change = (text: string, time: string) => {
  const next = nextChangeMs(schedule(text), at(time), localTime)
  return next === null ? null : new Date(next).toISOString()
}

describe('schedule', () => {
  it('a schedule is open within its windows, including their first minute and excluding their end', () => {
    // 2026-11-23 is a Monday.
    expect(open('09:00-17:30', '2026-11-23T08:59:59')).toBe(false)
    expect(open('09:00-17:30', '2026-11-23T09:00:00')).toBe(true)
    expect(open('09:00-17:30', '2026-11-23T17:29:59')).toBe(true)
    expect(open('09:00-17:30', '2026-11-23T17:30:00')).toBe(false)
  })

  it('a schedule continues over midnight into the next day, also at the end of the week', () => {
    expect(open('fri 22:00-06:00', '2026-11-27T21:59')).toBe(false)
    expect(open('fri 22:00-06:00', '2026-11-27T22:00')).toBe(true)
    expect(open('fri 22:00-06:00', '2026-11-28T05:59')).toBe(true)
    expect(open('fri 22:00-06:00', '2026-11-28T06:00')).toBe(false)
    expect(open('fri 22:00-06:00', '2026-11-28T22:30')).toBe(false)
    expect(open('sat 22:00-06:00', '2026-11-29T03:00')).toBe(true)
    expect(open('sun 22:00-06:00', '2026-11-29T03:00')).toBe(false)
  })

  it('a schedule has lists and ranges of days, in any case, also over the end of the week', () => {
    const days = 'Mon-Fri 22:00-06:00, sat,sun 00:00-24:00'
    expect(open(days, '2026-11-25T12:00')).toBe(false)
    expect(open(days, '2026-11-25T23:00')).toBe(true)
    expect(open(days, '2026-11-28T12:00')).toBe(true)
    expect(open(days, '2026-11-29T23:59')).toBe(true)
    expect(open(days, '2026-11-30T00:00')).toBe(false)
    expect(open('fri-mon 10:00-11:00', '2026-11-29T10:30')).toBe(true)
    expect(open('fri-mon 10:00-11:00', '2026-11-24T10:30')).toBe(false)
  })

  it('a schedule reports its next change; one that is always open has none', () => {
    expect(change('22:00-06:00', '2026-11-23T12:34:56')).toBe('2026-11-23T21:00:00.000Z')
    expect(change('22:00-06:00', '2026-11-23T23:00')).toBe('2026-11-24T05:00:00.000Z')
    expect(change('mon-fri 22:00-06:00,sat-sun 00:00-24:00', '2026-11-27T23:00')).toBe('2026-11-29T23:00:00.000Z')
    expect(change('sun 10:00-11:00', '2026-11-29T11:00')).toBe('2026-12-06T09:00:00.000Z')
    expect(change('00:00-24:00', '2026-11-23T12:00')).toBeNull()
    expect(change('00:00-12:00,12:00-24:00', '2026-11-23T12:00')).toBeNull()
  })

  it('a schedule follows local time on days on which the clocks change', () => {
    // 2026-03-29: 02:00 becomes 03:00, and the night has 7 hours.
    expect(change('22:00-06:00', '2026-03-28T22:00')).toBe('2026-03-29T04:00:00.000Z')
    // The skipped hour does not open; the next day it does.
    expect(change('02:00-03:00', '2026-03-29T00:00')).toBe('2026-03-30T00:00:00.000Z')
    // The clock skips its end, so it closes at the change.
    expect(change('01:00-02:30', '2026-03-29T01:30')).toBe('2026-03-29T01:00:00.000Z')
    // 2026-10-25: 03:00 becomes 02:00, and the night has 9 hours.
    expect(change('22:00-06:00', '2026-10-24T22:00')).toBe('2026-10-25T05:00:00.000Z')
    // The repeated hour opens twice.
    const first = Date.parse('2026-10-25T00:00:00Z')
    const times: string[] = []
    for (let now = first - 60_000, i = 0; i < 4; i++) {
      now = nextChangeMs(schedule('02:00-02:30'), now, localTime) ?? Number.NaN
      times.push(new Date(now).toISOString().slice(11, 16))
    }
    expect(times).toEqual(['00:00', '00:30', '01:00', '01:30'])
  })

  it('the text of a change names the day if the change is more than a day away', () => {
    expect(clockText(at('2026-11-23T22:00'), at('2026-11-23T12:00'), localTime)).toBe('22:00')
    expect(clockText(at('2026-11-24T06:05'), at('2026-11-23T12:00'), localTime)).toBe('06:05')
    expect(clockText(at('2026-11-28T00:00'), at('2026-11-23T12:00'), localTime)).toBe('sat 00:00')
  })

  it.each([
    ['', 'a part is empty'],
    ['22:00-06:00,', 'a part is empty'],
    ['22-06', '"22-06" is not a time; use HH:MM-HH:MM, such as 22:00-06:00'],
    ['mon', 'no times follow mon'],
    ['22:00-06:00,sat', 'no times follow sat'],
    ['monday 22:00-06:00', '"monday" is not a day; use mon, tue, ... or a range such as mon-fri'],
    ['mon-fri-sun 22:00-06:00', '"mon-fri-sun" is not a day; use mon, tue, ... or a range such as mon-fri'],
    ['24:00-06:00', '"24:00-06:00" has a time that no clock shows; the last one is 24:00, as an end'],
    ['22:60-06:00', '"22:60-06:00" has a time that no clock shows; the last one is 24:00, as an end'],
    ['22:00-24:01', '"22:00-24:01" has a time that no clock shows; the last one is 24:00, as an end'],
    ['22:00-22:00', '"22:00-22:00" is empty; a whole day is 00:00-24:00'],
    ['22:00-06:00 mon', 'in "22:00-06:00 mon" days come before times'],
    ['mon tue 22:00-06:00', '"mon tue 22:00-06:00" has more than days and times'],
    ['mon 22:00', '"22:00" is not a time; use HH:MM-HH:MM, such as 22:00-06:00'],
  ])('the schedule %j is invalid, and the problem is named', (text, problem) => {
    expect(parseSchedule(text)).toEqual({ problem })
  })
})
