/** Defects of a node, each with a case that must notice it. */
import type { Defect, ProxiedAnswer } from './proxy.ts'

export interface PlantedDefect extends Defect {
  readonly name: string
  /** File and name of a case that must fail. */
  readonly caughtBy: string
}

/** A defect may change any part of any answer. */
type Body = ReturnType<typeof JSON.parse>

/** Changes the JSON of successful answers whose path matches. */
function json(pattern: RegExp, change: (body: Body, path: string) => unknown): NonNullable<Defect['answer']> {
  return (answer, { path }) => {
    if (
      answer.status !== 200 ||
      !pattern.test(path) ||
      !/^application\/json/.test(answer.headers['content-type'] ?? '')
    ) {
      return
    }
    const body = JSON.parse(answer.body.toString())
    answer.body = Buffer.from(JSON.stringify(change(body, path) ?? body))
  }
}

/** Changes an answer whose path and status match. */
function where(
  pattern: RegExp,
  status: number,
  change: (answer: ProxiedAnswer) => void,
): NonNullable<Defect['answer']> {
  return (answer, { path }) => {
    if (pattern.test(path) && answer.status === status) change(answer)
  }
}

const reversedHex = (text: string) => Buffer.from(text, 'hex').reverse().toString('hex')
const otherHash = 'BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBE'
/** Changes a status. */
const status = (pattern: RegExp, from: number, to: number) =>
  where(pattern, from, (answer) => {
    answer.status = to
  })
/** The results in an answer of poll. */
const results = (body: Body): Body[] => Object.values(body)

/** Defects of endpoints for peers, of limits and of queries. */
const furtherDefects: readonly PlantedDefect[] = [
  {
    name: 'bounds without a limit',
    answer: status(/\/hash\/branch$/, 400, 200),
    caughtBy: 'branch: more than 32 lower bounds are 400, with the limit as a JSON text',
  },
  {
    name: 'peers as a bare list',
    answer: json(/\/cut\/peer$/, (body) => body.items),
    caughtBy: 'peers: known peers are a page',
  },
  {
    name: 'a cut of anybody is taken',
    answer: status(/\/cut$/, 401, 204),
    caughtBy: 'peers: a cut of an unknown peer is 401',
  },
  {
    name: 'a peer that nobody hears is taken',
    answer: status(/\/cut\/peer$/, 400, 204),
    caughtBy: 'peers: a peer at which nothing listens is refused',
  },
  {
    name: 'commands of peers fail',
    answer: status(/\/mempool\/insert$/, 200, 500),
    caughtBy: 'mempool: a command that a peer inserts is pending',
  },
  {
    name: 'a page as long as the client wants',
    answer: json(/\/header\?limit=5000/, (body) => {
      body.limit = 5000
    }),
    caughtBy: 'headers: a page of headers has at most 360 items',
  },
  {
    name: 'a body that is too long is malformed',
    answer: status(/\/local$/, 413, 400),
    caughtBy: 'errors: a body over 2 MiB is 413',
  },
  {
    name: 'a refused proof as a fault of the node',
    answer: status(/\/spv$/, 400, 500),
    caughtBy: 'spv: a proof of an unknown command is 400',
  },
  {
    name: 'a proof for another command',
    answer: json(/\/spv$/, (body: string) => body.slice(4)),
    caughtBy: 'spv: a proof names its chain, its object and the algorithm',
  },
  {
    name: 'listen ends without waiting',
    answer: status(/\/listen$/, 200, 504),
    caughtBy: 'commands: a result names its block, its time and the parent',
  },
  {
    name: 'a solved payload that comes back',
    answer: status(/\/solved$/, 404, 200),
    caughtBy: 'mining: a solution that was taken is unknown afterwards',
  },
  {
    name: 'a rewind that is ignored',
    path: (path) => path.replace(/[?&]rewindDepth=\d+/, ''),
    caughtBy: 'local: a rewind deeper than the chain is the first block',
  },
  {
    name: 'signatures that are always checked',
    path: (path) => path.replace(/[?&]signatureVerification=false/, ''),
    caughtBy: 'local: a wrong signature is no matter where none is checked',
  },
  {
    name: 'a batch of the first payload only',
    answer: json(/\/payload\/batch$/, (body) => body.slice(0, 1)),
    caughtBy: 'payloads: a large batch has each payload',
  },
  {
    name: 'chains of a stream as texts',
    events: (text) => text.replace(/"chainId":(\d+)/g, '"chainId":"$1"'),
    caughtBy: 'streams: events of one chain come in the order of its blocks',
  },
  {
    name: 'a height that is cut away from a list',
    path: (path) => path.replace(/[?&]maxheight=\d+/, ''),
    caughtBy: 'headers: one height has the blocks of that height only',
  },
]

export const defects: readonly PlantedDefect[] = [
  ...furtherDefects,
  {
    name: 'an unknown header is 200',
    answer: where(/\/header\/A+E/, 404, (answer) => {
      answer.status = 200
    }),
    caughtBy: 'headers: an unknown header is 404 with its key',
  },
  {
    name: 'a 404 without its key',
    answer: where(/\/payload\/A+E/, 404, (answer) => {
      answer.body = Buffer.from('{"reason":"key not found"}')
    }),
    caughtBy: 'payloads: an unknown payload is 404 with its key',
  },
  {
    name: 'a wrong method is 404',
    answer: where(/\/cut$/, 405, (answer) => {
      answer.status = 404
    }),
    caughtBy: 'errors: another method is 405',
  },
  {
    name: 'a wrong content type is 400',
    answer: where(/\/local$/, 415, (answer) => {
      answer.status = 400
    }),
    caughtBy: 'errors: a body of the wrong content type is 415',
  },
  {
    name: 'no time of the node',
    answer: where(/./, 200, ({ headers }) => {
      headers['x-server-timestamp'] = undefined
    }),
    caughtBy: 'info: every answer has the time of the node in seconds and its release',
  },
  {
    name: 'the time of the node in milliseconds',
    answer: where(/health/, 200, ({ headers }) => {
      headers['x-server-timestamp'] += '000'
    }),
    caughtBy: 'info: every answer has the time of the node in seconds and its release',
  },
  {
    name: 'no permission for pages of other origins',
    answer: where(/\/info$/, 200, ({ headers }) => {
      headers['access-control-allow-origin'] = undefined
    }),
    caughtBy: 'info: pages of other origins may read answers',
  },
  {
    name: 'info without the block delay',
    answer: json(/\/info$/, (body) => {
      delete body.nodeBlockDelay
    }),
    caughtBy: 'info: info has the block delay in microseconds and the package version',
  },
  {
    name: 'a cut without one of the chains',
    answer: json(/\/cut$/, (body) => {
      delete body.hashes['1']
    }),
    caughtBy: 'cut: names a block of every chain',
  },
  {
    name: 'a cut with a wrong height',
    answer: json(/\/cut$/, (body) => {
      body.hashes['0'].height += 1
    }),
    caughtBy: 'cut: names blocks that the node has, at their heights',
  },
  {
    name: 'headers of the wrong content type',
    answer: where(/\/header\//, 200, ({ headers }) => {
      headers['content-type'] = 'text/html'
    }),
    caughtBy: 'headers: a header as an object has every field, and hashes to its own hash',
  },
  {
    name: 'a header whose time was changed',
    answer: json(/\/header\/[\w-]{43}$/, (body) => {
      if (typeof body === 'object') body.creationTime += 1
    }),
    caughtBy: 'headers: a header as an object has every field, and hashes to its own hash',
  },
  {
    name: 'a binary header without its last byte',
    answer: (answer, { path }) => {
      if (/\/header\//.test(path) && /octet/.test(answer.headers['content-type'] ?? '')) {
        answer.body = answer.body.subarray(0, -1)
      }
    },
    caughtBy: 'headers: a header as text, as bytes and as an object are one header',
  },
  {
    name: 'a page in descending order',
    answer: json(/\/header\?/, (body) => void body.items.reverse()),
    caughtBy: 'headers: minheight and maxheight are inclusive, and items ascend',
  },
  {
    name: 'a cursor that is ignored',
    path: (path) => path.replace(/[?&]next=[^&]*/, ''),
    caughtBy: 'headers: the cursor of a full page begins the next one',
  },
  {
    name: 'an exclusive cursor in the middle of a list',
    answer: json(/\/hash\?limit=2/, (body) => {
      body.next = body.next?.replace('inclusive', 'exclusive')
    }),
    caughtBy: 'headers: the cursor of a full page begins the next one',
  },
  {
    name: 'an exclusive maxheight',
    path: (path) => path.replace(/maxheight=([1-9]\d*)/, (_, height) => `maxheight=${Number(height) - 1}`),
    caughtBy: 'headers: minheight and maxheight are inclusive, and items ascend',
  },
  {
    name: 'a limit that repeats the request',
    answer: json(/\/hash\?.*limit=100/, (body) => {
      body.limit = 100
    }),
    caughtBy: 'headers: limit counts the items of the page',
  },
  {
    name: 'a branch in ascending order',
    answer: json(/\/branch/, (body) => void body.items.reverse()),
    caughtBy: 'branch: a branch descends from its upper bound, which it includes',
  },
  {
    name: 'a payload with another outputs hash',
    answer: json(/\/payload\/[\w-]{43}\/outputs$/, (body) => {
      body.outputsHash = otherHash
    }),
    caughtBy: 'payloads: with outputs it has pairs of transaction and output, and the coinbase',
  },
  {
    name: 'a batch with null for what is missing',
    answer: json(/\/payload\/batch$/, (body) => void body.push(null)),
    caughtBy: 'payloads: a batch leaves out payloads that do not exist',
  },
  {
    name: 'blocks without the coinbase',
    answer: json(/\/block\?/, (body) => {
      for (const { payloadWithOutputs } of body.items) delete payloadWithOutputs.coinbase
    }),
    caughtBy: 'blocks: a block is a header as an object and its payload with outputs',
  },
  {
    name: 'work without its target',
    answer: where(/\/mining\/work/, 200, (answer) => {
      answer.body = Buffer.concat([answer.body.subarray(0, 4), answer.body.subarray(36)])
    }),
    caughtBy: 'mining: work is a chain, a target and a header without its nonce',
  },
  {
    name: 'mining updates of another name',
    events: (text) => text.replace('New Cut', 'NewCut'),
    caughtBy: 'mining: the stream of updates says New Cut when its chain moves',
  },
  {
    name: 'header updates of another name',
    events: (text) => text.replace('event:BlockHeader', 'event:Header'),
    caughtBy: 'streams: a new header is an event with header, target, hash and count of transactions',
  },
  {
    name: 'the hash of a stream in little endian',
    events: (text) => text.replace(/("powHash":")(\w+)/, (_, name, hash) => name + reversedHex(hash)),
    caughtBy: 'streams: a new header is an event with header, target, hash and count of transactions',
  },
  {
    name: 'local with its keys in another order',
    answer: json(/\/local$/, ({ result, ...rest }) => ({ result, ...rest })),
    caughtBy: 'local: plain code has its value, its gas and its key',
  },
  {
    name: 'big integers as plain numbers',
    answer: where(/\/local$/, 200, (answer) => {
      answer.body = Buffer.from(answer.body.toString().replace(/"int":"(\d+)"/, '"int":$1'))
    }),
    caughtBy: 'local: integers beyond 2^53 are texts',
  },
  {
    name: 'a decimal as a text',
    answer: json(/\/local$/, ({ result }) => {
      if (typeof result.data === 'number') result.data = String(result.data)
    }),
    caughtBy: 'local: decimals, times, lists and objects have the forms of the language',
  },
  {
    name: 'no logs in results of poll',
    answer: json(/\/poll$/, (body) => {
      for (const result of results(body)) result.logs = null
    }),
    caughtBy: 'commands: a result has its logs as a hash, and its number',
  },
  {
    name: 'events without the hash of their module',
    answer: json(/\/poll$/, (body) => {
      for (const { events } of results(body)) for (const event of events) delete event.moduleHash
    }),
    caughtBy: 'commands: the transfer and its fee are events of the result',
  },
  {
    name: 'the time of a block in seconds',
    answer: json(/\/listen$/, ({ metaData }) => {
      metaData.blockTime = Math.floor(metaData.blockTime / 1e6)
    }),
    caughtBy: 'commands: a result names its block, its time and the parent',
  },
  {
    name: 'failed code as a 400',
    answer: where(/\/local$/, 200, (answer) => {
      if (answer.body.includes('"failure"')) answer.status = 400
    }),
    caughtBy: 'local: code that fails is a result with its error',
  },
  {
    name: 'preflight in the plain form',
    answer: json(/preflight=true/, (body) => body.preflightResult),
    caughtBy: 'local: preflight charges as a block does, and answers in its own form',
  },
  {
    name: 'request keys in another order',
    answer: json(/\/send$/, (body) => void body.requestKeys.reverse()),
    caughtBy: 'commands: the keys come in the order of the commands',
  },
  {
    name: 'a refusal as JSON',
    answer: where(/\/send$/, 400, ({ headers }) => {
      headers['content-type'] = 'application/json'
    }),
    caughtBy: 'commands: a gas price with 13 places is refused',
  },
  {
    name: 'null for a key without a result',
    answer: json(/\/poll$/, (body) => (results(body).length === 0 ? { key: null } : body)),
    caughtBy: 'commands: an unknown key is absent',
  },
  {
    name: 'results without the block hash',
    answer: json(/\/(poll|listen)$/, (body) => {
      for (const { metaData } of [body, ...results(body)].filter((each) => each?.metaData)) delete metaData.blockHash
    }),
    caughtBy: 'commands: listen answers once the command is in a block',
  },
  {
    name: 'a confirmation depth that is ignored',
    path: (path) => path.replace('?confirmationDepth=3', ''),
    caughtBy: 'commands: poll waits for confirmations',
  },
  {
    name: 'members of the mempool in another order',
    answer: json(/\/member$/, (body) => void body.reverse()),
    caughtBy: 'commands: a pending command is in the mempool',
  },
  {
    name: 'a mark that is ignored',
    path: (path) => path.replace(/getPending\?.*/, 'getPending'),
    caughtBy: 'commands: getPending lists only what came since its mark',
  },
  {
    name: 'a proof as a text without quotes',
    answer: where(/\/spv$/, 200, (answer) => {
      answer.body = answer.body.subarray(1, -1)
    }),
    caughtBy: 'spv: a transfer to another chain, its proof, and its second step',
  },
]
