/** Commands with unusual spellings of their parts, over HTTP and into blocks (PROTOCOL.md E.2). */
import { describe, expect, it } from 'vitest'
import { commandPayload, nowSeconds, type Signed, signText } from './command.ts'
import { exec, local, makeBlocks, ok, poll, post, send, sharedLedger } from './commands-common.ts'
import { brief, type CheckedPeer, TEXT } from './common.ts'
import { rewound } from './control-common.ts'
import { insertTexts } from './mempool-common.ts'

const ledger = rewound(sharedLedger())

/** A signed command whose JSON text spells one part in another way. */
function spelled(part: string, spelling: string, change = {}): Signed {
  const text = JSON.stringify(commandPayload({ creationTime: nowSeconds() - 5 }, change))
  const cmd = text.replace(part, () => spelling)
  if (cmd === text) throw new Error(`${part} is not in ${text}`)
  return signText(cmd)
}

const created = () => `${nowSeconds() - 7}`
const creationTime = (spelling: (time: string) => string) => {
  const text = JSON.stringify(commandPayload({ creationTime: 1 }))
  return signText(text.replace('"creationTime":1', `"creationTime":${spelling(created())}`))
}

/** Sends commands, makes a block, and returns their results. */
async function run(peer: CheckedPeer, commands: readonly Signed[]) {
  const keys = commands.map(({ hash }) => hash)
  expect(await ok(send(peer, commands))).toEqual({ requestKeys: keys })
  await makeBlocks(peer, { 0: 1 })
  const results = await ok(poll(peer, keys))
  return keys.map((key) => results[key])
}

const GAS_LIMIT = '"gasLimit":600'
const GAS_PRICE = '"gasPrice":1e-8'
const TTL = '"ttl":28800'
const DATA = '"data":{},"code"'
const EXEC = '"payload":{"exec":{"data":{},"code":"(+ 1 2)"}}'
const NONCE = '"nonce":'

describe('a command is accepted, executed and reported, whose', () => {
  it.each([
    ['gas limit', ['6e2', '600.0', '"600"', '"0600"', '{"int":600}', '{"int":"600"}'].map((each) => [GAS_LIMIT, each])],
    ['gas price', ['0.00000001', '1.0E-8', '"0.00000001"', '"1e-8"'].map((each) => [GAS_PRICE, each])],
    ['time to live', ['288e2', '28800.00', '"28800"', '{"int":28800}'].map((each) => [TTL, each])],
  ] as const)(
    'a command whose %s is a number in any spelling is accepted, executed and reported',
    async (_name, spellings) => {
      const { peer } = await ledger()
      const commands = spellings.map(([part, each]) => spelled(part, part.replace(/:.*/, `:${each}`)))
      for (const command of commands) {
        const { preflightResult } = await ok(local(peer, command, '?preflight=true'))
        expect(preflightResult.metaData.publicMeta).toMatchObject({ gasLimit: 600, gasPrice: 1e-8, ttl: 28_800 })
      }
      for (const { result } of await run(peer, commands))
        expect(result).toEqual({ status: 'success', data: { int: 3 } })
    },
  )

  it('a command whose creation time is a number in any spelling is accepted, executed and reported', async () => {
    const { peer } = await ledger()
    const spellings = [(t: string) => `${t}.0`, (t: string) => `"${t}"`, (t: string) => `{"int":${t}}`]
    const results = await run(peer, spellings.map(creationTime))
    expect(results.map(({ result }) => result.data)).toEqual([{ int: 3 }, { int: 3 }, { int: 3 }])
  })

  it.each([
    ['data are null', [DATA, '"data":null,"code"']],
    ['data are left out', [DATA, '"code"']],
    ['payload has a null beside its code', [EXEC, '"payload":{"cont":null,"exec":{"code":"(+ 1 2)"}}']],
    ['payload has a step beside its code', [EXEC, '"payload":{"cont":{"pactId":7},"exec":{"code":"(+ 1 2)"}}']],
    ['verifiers are null', [NONCE, '"verifiers":null,"nonce":']],
    ['verifiers are none', [NONCE, '"verifiers":[],"nonce":']],
    ['signers name no scheme and no address', ['{"pubKey":', '{"scheme":null,"addr":null,"pubKey":']],
    ['parts have names that mean nothing', [NONCE, '"memo":{"deep":[1e-300]},"nonce":']],
  ] as const)('a command is accepted, executed and reported, whose %s', async (_name, [part, spelling]) => {
    const { peer } = await ledger()
    const [{ result, continuation }] = await run(peer, [spelled(part, spelling)])
    expect(result).toEqual({ status: 'success', data: { int: 3 } })
    expect(continuation).toBe(null)
  })

  it('a command whose step of a pact is a number in any spelling, beside a null in the place of code, is executed', async () => {
    const { peer } = await ledger()
    const code = '(namespace "free") (module two G (defcap G () true) (defpact steps () (step "one") (step "two")))'
    const made = await run(peer, [exec(code, { gasLimit: 50_000 }), exec('1')])
    expect(made.map(({ result }) => result.status)).toEqual(['success', 'success'])
    const begun = [exec('(free.two.steps)'), exec('(free.two.steps)')]
    expect((await run(peer, begun)).map(({ result }) => result.data)).toEqual(['one', 'one'])
    const continued = begun.map(({ hash }, i) => {
      const cont = `{"pactId":"${hash}","step":${['1.0', '1e0'][i]},"rollback":false,"data":null}`
      return spelled(EXEC, `"payload":{"exec":null,"cont":${cont}}`)
    })
    expect((await run(peer, continued)).map(({ result }) => result.data)).toEqual(['two', 'two'])
  })
})

describe('a command is refused at every endpoint, with the name of the part, whose', () => {
  const payload = { payload: { cont: { pactId: 'p', step: 1, rollback: false, data: {} } } }
  it.each([
    ['gas price is an object', [GAS_PRICE, '"gasPrice":{"decimal":"0.00000001"}'], '/meta/gasPrice must be a number'],
    ['gas limit is an object twice', [GAS_LIMIT, '"gasLimit":{"int":{"int":600}}'], '/meta/gasLimit must be a whole'],
    ['gas limit is a text with an exponent', [GAS_LIMIT, '"gasLimit":"6e2"'], '/meta/gasLimit must be a whole number'],
    ['time to live has a fraction', [TTL, '"ttl":600.5'], '/meta/ttl must be a whole number'],
    ['pact is a number', ['"pactId":"p"', '"pactId":7'], '/payload/cont/pactId must be string'],
    ['step is a text', ['"step":1', '"step":"1"'], '/payload/cont/step must be integer'],
    ['rollback is null', ['"rollback":false', '"rollback":null'], '/payload/cont/rollback must be boolean'],
    ['data hold a number with 300 places', [DATA, '"data":1e-300,"code"'], '/payload/exec/data: a number that is no'],
    ['payload is empty', [EXEC, '"payload":{}'], '/payload: expected either exec or cont'],
    ['verifiers have no proof', [NONCE, '"verifiers":[{"name":"a","clist":[]}],"nonce":'], '/verifiers/0 must have'],
  ] as const)(
    'a command is refused at every endpoint, with the name of the part, whose %s',
    async (_name, [part, spelling], complaint) => {
      const { peer } = await ledger()
      const command = spelled(part, spelling, part.startsWith('"pactId') || /step|rollback/.test(part) ? payload : {})
      const place = `/cmd${complaint}`
      for (const [answer, before] of [
        [send(peer, [exec('1'), command]), 'reading JSON for transaction failed: element 1: '],
        [post(peer, '/api/v1/send', { cmds: [exec('1'), command] }), 'Validation failed: element 1: '],
        [post(peer, '/api/v1/local', command), 'Validation failed: element 0: '],
        [local(peer, command), 'Validation failed: '],
        [local(peer, command, '?preflight=true'), 'Validation failed: '],
        [
          insertTexts(
            peer,
            [exec('1'), command].map((each) => JSON.stringify(each)),
          ),
          'element 1: ',
        ],
      ] as const) {
        const [status, type, text] = brief(await answer)
        expect(status).toBe(400)
        expect(type).toBe(TEXT)
        expect(text.slice(0, before.length + place.length)).toEqual(before + place)
      }
    },
  )
})
