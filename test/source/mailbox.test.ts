import { expect, it } from 'vitest'
import { Mailbox } from '../../src/mining/source/mailbox.ts'

it('a mailbox gives a slow reader the newest value only, and then later ones', async () => {
  const mailbox = new Mailbox<number>()
  const values = mailbox[Symbol.asyncIterator]()
  for (const value of [1, 2, 3]) mailbox.put(value)
  expect(await values.next()).toEqual({ value: 3, done: false })
  const next = values.next()
  mailbox.put(4)
  expect(await next).toEqual({ value: 4, done: false })
  mailbox.close()
  expect(await values.next()).toEqual({ value: undefined, done: true })
})
