/** Messages of a pool to a miner, over a real connection, and addresses of pools. */
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { NewcutError } from '../../../src/ground/base/errors.ts'
import type { Receipt } from '../../../src/ground/chain/solution.ts'
import { systemClock } from '../../../src/ground/platform/clock.ts'
import { mayMoveTo, type PoolAddress, readPoolAddress } from '../../../src/mining/source/pool/address.ts'
import { type PoolJob, PoolSession } from '../../../src/mining/source/pool/session.ts'
import { readMessage } from '../../../src/mining/stratum/messages.ts'
import { poolLines } from '../seeds.ts'
import { bytesOf, expect, isNewcutError, jsonBytes, lineStream, type Target, textTarget } from '../target.ts'

const MAX_TEXT = 2_000
const MAX_END_MS = 10_000
const USER = 'k:ab.rig'
const PASSWORD = 'Pa55-w0rd'

const isPrintable = (text: string) => text.length <= MAX_TEXT && !/\p{Cc}/u.test(text)

/** A pool that sends these bytes to each client, and then closes the connection. */
class FakePool {
  readonly #server = createServer((socket) => this.#accept(socket))
  #bytes: Uint8Array = new Uint8Array()
  #onHeard: (text: string) => void = () => undefined

  async listen(): Promise<number> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
    return (this.#server.address() as AddressInfo).port
  }

  /** Sets the bytes for the next miner. Resolves with everything that it sent, once its connection has closed. */
  next(bytes: Uint8Array): Promise<string> {
    this.#bytes = bytes
    return new Promise((resolve) => {
      this.#onHeard = resolve
    })
  }

  close(): Promise<void> {
    return new Promise((resolve) => this.#server.close(() => resolve()))
  }

  #accept(socket: Socket): void {
    let heard = ''
    socket.setEncoding('utf8')
    socket.on('data', (text) => {
      heard += text
    })
    // A miner that has read enough resets the connection; 'close' follows.
    socket.on('error', () => undefined)
    socket.on('close', () => this.#onHeard(heard))
    socket.end(this.#bytes)
  }
}

/** One session from start to end. Rejects with an error that nothing catches: it would crash the miner. */
async function session(pool: FakePool, port: number, bytes: Uint8Array): Promise<void> {
  const address = {
    host: '127.0.0.1',
    port,
    tls: false,
    user: USER,
    password: 'x',
    url: `stratum+tcp://127.0.0.1:${port}`,
  }
  const heard = pool.next(bytes)
  const receipts: Promise<Receipt>[] = []
  let open: PoolSession | undefined
  try {
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error('wrong result: the session does not end')), MAX_END_MS)
      process.setUncaughtExceptionCaptureCallback(reject)
      let isOver = false
      open = new PoolSession({
        ...{ address, home: address, trust: {}, agent: 'newcut', clock: systemClock },
        handlers: {
          onJob: (job) => {
            expect(!isOver, 'nothing follows the end')
            judgeJob(job)
            if (open !== undefined) receipts.push(open.submit(job, 5n << 16n))
          },
          onMessage: (text) => expect(!isOver && isPrintable(text), 'messages are printable'),
          onEnd: (reason, move) => {
            expect(!isOver && reason instanceof NewcutError && isPrintable(reason.message), 'one end, with a reason')
            if (move !== null) expect(mayMoveTo(address, move.address.host), 'a pool sends its miners to itself only')
            isOver = true
            clearTimeout(timer)
            resolve()
          },
        },
      })
    })
  } finally {
    process.setUncaughtExceptionCaptureCallback(null)
    open?.close()
  }
  judgeLines(await heard)
  for (const receipt of await Promise.all(receipts)) {
    expect(!('message' in receipt) || isPrintable(receipt.message), 'what became of a share is printable')
  }
}

function judgeJob({ id, work, target, nonce1 }: PoolJob): void {
  expect(String(id).length <= 128, 'the name of a job is short')
  expect(target >= work.fields.target, 'no share is harder than a block')
  expect([0, 8, 16, 24, 32].includes(nonce1.bits) && nonce1.value < 2 ** nonce1.bits, 'nonce1 has its bits')
}

/** Judges the lines of a miner. A reset may cut off the last one. */
function judgeLines(heard: string): void {
  for (const line of heard.split('\n').slice(0, -1)) readMessage(line)
}

/** Refusals do not repeat the password. */
function judgeAddress(text: string): void {
  for (const given of [text, `stratum+tcp://me:${PASSWORD}@${text}`]) {
    let address: PoolAddress
    try {
      address = readPoolAddress(given)
    } catch (error) {
      if (!isNewcutError(error)) throw error
      const { message, hint } = error as NewcutError
      expect(text.includes(PASSWORD) || !`${message} ${hint}`.includes(PASSWORD), 'an error repeats no password')
      continue
    }
    const { host, port, tls, url } = address
    expect(port > 0 && port < 65_536 && !url.includes('@'), 'an address that may be shown')
    const again = readPoolAddress(url.replace('://', '://a:b@'))
    expect(
      again.host === host && again.port === port && again.tls === tls && again.url === url,
      'the address is changed',
    )
  }
}

/** Input lines: the host of a pool, and the host that it redirects its miners to. */
function judgeMove(text: string): void {
  const [from = '', to = ''] = text.split('\n')
  if (!mayMoveTo({ host: from }, to)) return
  const domainOf = (host: string) => host.toLowerCase().replace(/\.$/, '').split('.').slice(-2).join('.')
  expect(domainOf(from) === domainOf(to), 'a pool sends its miners to its own domain only')
}

const [first, second] = poolLines
const extras = [
  { id: null, method: 'mining.set_difficulty', params: [0.5] },
  { id: null, method: 'mining.set_extranonce', params: ['e8', 7] },
  { id: 3, result: true, error: null },
  { id: 4, result: null, error: [21, 'Job not found', null] },
  { id: null, method: 'client.show_message', params: ['hello'] },
  { id: 7, method: 'client.get_version', params: [] },
  { id: 8, method: 'mining.unknown', params: [] },
]
const reconnect = { id: null, method: 'client.reconnect', params: ['127.0.0.1', 3333, 0] }
const messages = (lines: readonly string[]) => lines.map((line) => JSON.parse(line))

export const poolTargets: readonly Target[] = [
  {
    name: 'a pool tells a miner',
    share: 0.3,
    maxMs: 1_000,
    open: async () => {
      const pool = new FakePool()
      const port = await pool.listen()
      return {
        seeds: [
          ...poolLines.map((lines) => bytesOf(`${lines.join('\n')}\n`)),
          jsonBytes([...messages(first), ...extras, ...messages(first).slice(-1)]),
          jsonBytes([...messages(second), reconnect]),
          ...[...extras, reconnect].map((each) => jsonBytes([each])),
        ],
        allows: () => false,
        read: (bytes) => session(pool, port, lineStream(bytes)),
        close: () => pool.close(),
      }
    },
  },
  textTarget(
    'addresses of pools',
    [
      ...['stratum+tcp://k:ab.rig:x@pool.example:3333', 'stratum+ssl://me:p%40ss@[::1]:443/', 'pool.example:3333'],
      ...['stratum+tcp://pool.example:0', '[::1]:99999', 'h:1'],
    ],
    judgeAddress,
    { share: 5 },
  ),
  textTarget(
    'where pools send their miners',
    ['pool.example.org\neu.example.org', 'example.org\nPOOL.example.org.', '127.0.0.1\n127.0.0.1', '::1\npool.example'],
    judgeMove,
    { share: 5 },
  ),
]
