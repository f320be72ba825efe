import { describe, expect, it } from 'vitest'
import { Pauses } from '../../src/mining/mine/pauses.ts'

const causes = (pauses: Pauses) => pauses.list.map(({ by }) => by)

describe('causes of a pause', () => {
  it('causes of a pause add up, and each ends by itself', () => {
    const pauses = new Pauses()
    pauses.hold('load', 'while')
    pauses.pause()
    pauses.hold('schedule', 'until')
    expect(pauses.list).toEqual([
      { by: 'user', text: 'until it is resumed' },
      { by: 'schedule', text: 'until' },
      { by: 'load', text: 'while' },
    ])
    pauses.hold('schedule', null)
    pauses.hold('load', null)
    expect(causes(pauses)).toEqual(['user'])
    pauses.hold('schedule', 'until')
    pauses.hold('schedule', null)
    expect(causes(pauses)).toEqual(['user'])
    pauses.resume()
    expect(causes(pauses)).toEqual([])
  })

  it('the user overrides the causes of a pause until they have ended once', () => {
    const pauses = new Pauses()
    pauses.hold('schedule', 'until 22:00')
    pauses.resume()
    pauses.hold('schedule', 'until 22:00')
    expect(causes(pauses)).toEqual([])
    // The other cause still holds.
    pauses.hold('load', 'while')
    expect(causes(pauses)).toEqual(['load'])
    pauses.hold('load', null)
    pauses.hold('schedule', null)
    pauses.hold('schedule', 'until 22:00')
    expect(causes(pauses)).toEqual(['schedule'])
  })

  it('the other causes of a pause count again when the user pauses', () => {
    const pauses = new Pauses()
    pauses.hold('schedule', 'until 22:00')
    pauses.resume()
    pauses.pause()
    expect(causes(pauses)).toEqual(['user', 'schedule'])
    pauses.resume()
    expect(causes(pauses)).toEqual([])
  })
})
