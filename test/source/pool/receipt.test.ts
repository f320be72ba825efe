import { expect, it } from 'vitest'
import { receiptOf } from '../../../src/mining/source/pool/receipt.ts'
import { type Response, readMessage } from '../../../src/mining/stratum/messages.ts'

const taken = { step: 'acknowledged' }
const stale = { step: 'stale' }
const rejected = (reason: string) => ({ step: 'rejected', reason })

it.each<[answer: string, receipt: object]>([
  ['"result":true,"error":null', taken],
  ['"result":true', taken],
  ['"result":true,"error":[]', taken],
  ['"result":true,"error":false', taken],
  ['"result":false,"error":null', stale],
  ['"result":false,"error":[]', rejected('unknown')],
  ['"result":null,"error":[20,"unknown-work",null]', stale],
  ['"result":null,"error":[20,"Unknown job",null]', stale],
  ['"result":null,"error":[20,"Invalid job id",null]', stale],
  ['"result":null,"error":[20,"invalid_job",null]', stale],
  ['"result":null,"error":[20,"not allowed",null]', rejected('unknown')],
  ['"result":null,"error":[20,"Invalid worker",null]', rejected('unknown')],
  ['"result":null,"error":[20,"slow down",null]', rejected('unknown')],
  ['"result":null,"error":[20,"low-difficulty",null]', rejected('low-difficulty')],
  ['"result":null,"error":[20,"LowDifficulty share",null]', rejected('low-difficulty')],
  ['"result":null,"error":[20,"Above target",null]', rejected('low-difficulty')],
])("the pool's answer %s gives the receipt of its words", (answer, receipt) => {
  expect(receiptOf(readMessage(`{"id":3,${answer}}`) as Response)).toMatchObject(receipt)
})
