/** Spellings of each part of a command, both those that live nodes accept and those that they refuse. */
import fc from 'fast-check'

/** A spelling of a part: its JSON text and its meaning. */
export interface Form {
  readonly text: string
  readonly means: unknown
}

/** The accepted and refused spellings of one part of `cmd`. */
export interface Part {
  readonly taken: fc.Arbitrary<Form>
  readonly refused: readonly string[]
}

/** The JSON text of `cmd`, the meanings of its parts, and its wrong parts. */
export interface Contents {
  readonly cmd: string
  readonly means: Readonly<Record<PartName, unknown>>
  readonly wrong: readonly PartName[]
}

const form = (text: string, means: unknown): Form => ({ text, means })
const forms = (...list: readonly (readonly [text: string, means: unknown])[]) =>
  fc.constantFrom(...list.map(([text, means]) => form(text, means)))
const texts = fc.string({ unit: 'grapheme' }).map((text) => form(JSON.stringify(text), text))
/** JSON values other than strings, arrays and objects. */
const SCALARS = ['7', '1.5', 'true', 'null']
const notText = [...SCALARS, '["a"]', '{"a":"b"}']

const whole: Part = {
  taken: fc.oneof(
    fc
      .integer({ min: 1, max: 200_000 })
      .chain((n) =>
        forms([`${n}`, n], [`${n}.0`, n], [`${n}.000e0`, n], [`${n}0e-1`, n], [`${n}E2`, 100 * n], [`"${n}"`, n]),
      ),
    fc.nat(200_000).chain((n) => forms([`{"int":${n}}`, n], [`{"int":"${n}"}`, n], [`{"int":${n}.0,"x":[]}`, n])),
    forms(['-5', -5], ['"-5"', -5], ['{"int":-5}', -5], ['"007"', 7], ['-0', 0], ['1e3', 1000], ['1.5e1', 15]),
    forms(['9007199254740991', 2 ** 53 - 1], ['"9007199254740991"', 2 ** 53 - 1], ['1000000000000000', 1e15]),
  ),
  refused: [
    ...[
      '1.5',
      '1e-3',
      '"1e3"',
      '"600.0"',
      '"+600"',
      '" 600"',
      '"600 "',
      '""',
      '"0x10"',
      '"١"',
      'true',
      'null',
      '[600]',
    ],
    ...[
      '{}',
      '{"int":{"int":600}}',
      '{"int":"x"}',
      '{"int":"1e3"}',
      '{"int":null}',
      '{"int":[1]}',
      '{"decimal":"600"}',
    ],
    ...['9007199254740992', '"9007199254740992"', '{"int":"9007199254740992"}', '1e300', '1e99999', '1e-99999'],
    `{"int":${'['.repeat(300)}${']'.repeat(300)}}`,
  ],
}

const price: Part = {
  taken: fc.oneof(
    fc
      .nat(10 ** 12)
      .map((n) => `0.${`${n}`.padStart(12, '0')}`)
      .chain((text) => forms([text, text], [`"${text}"`, text], [`${text}00`, text])),
    forms(['1e-8', '0.00000001'], ['1.0E-8', '0.00000001'], ['1', '1'], ['"1"', '1'], ['-1', '-1'], ['"-0.5"', '-0.5']),
    // Live nodes refuse a string with an exponent.
    forms(['"1e-8"', '0.00000001'], ['12345678901234567890', '12345678901234567890'], ['"007"', '7']),
  ),
  refused: [
    ...[
      '{"decimal":"0.00000001"}',
      '{"int":1}',
      '"+1"',
      '".5"',
      '"1."',
      '"cheap"',
      '""',
      '" 1"',
      'true',
      'null',
      '[1]',
    ],
    ...['1e-300', '1e99999', `"0.${'0'.repeat(255)}1"`],
  ],
}

const CAPABILITY = '{"name":"coin.TRANSFER","args":["a","b",{"decimal":"1.5"},1.5,{"int":7}]}'
const capabilities: readonly Form[] = [
  ...[form('[]', 0), form('null', 0)],
  ...[form(`[${CAPABILITY},{"name":"n.m.CAP","args":[]}]`, 2), form(`[${CAPABILITY}]`, 1)],
]
const DEEP = `${'['.repeat(300)}${']'.repeat(300)}`
const notCapabilities = [
  ...['7', '"coin.GAS"', '{}', '[7]', '[{}]', '[{"name":"coin.GAS"}]', '[{"name":"coin.GAS","args":null}]'],
  ...['[{"name":"GAS","args":[]}]', '[{"name":"a.b.c.d","args":[]}]', '[{"name":7,"args":[]}]'],
  ...[`[{"name":"coin.GAS","args":[${DEEP}]}]`, '[{"name":"coin.GAS","args":[1e-300]}]'],
]
const data = fc.oneof(
  // Numbers have at most 255 decimal places.
  fc
    .json()
    .filter((text) => !/e-\d{3}/.test(text))
    .map((text) => form(text, 'some')),
  forms(['null', 'unit'], ['{}', 'some'], ['{"a":[1.50,{"int":"12345678901234567890"}]}', 'some'], ['1e-8', 'some']),
)
const badData = [DEEP, '{"a":1e-300}', '1e99999']

/** The path of each part in `cmd`, for error messages. */
export const places = {
  chainId: '/meta/chainId',
  sender: '/meta/sender',
  gasLimit: '/meta/gasLimit',
  gasPrice: '/meta/gasPrice',
  ttl: '/meta/ttl',
  creationTime: '/meta/creationTime',
  code: '/payload/exec/code',
  execData: '/payload/exec/data',
  pactId: '/payload/cont/pactId',
  step: '/payload/cont/step',
  rollback: '/payload/cont/rollback',
  proof: '/payload/cont/proof',
  contData: '/payload/cont/data',
  networkId: '/networkId',
  nonce: '/nonce',
  pubKey: '/signers/0/pubKey',
  scheme: '/signers/0/scheme',
  addr: '/signers/0/addr',
  clist: '/signers/0/clist',
} as const
export type PartName = keyof typeof places
const names = Object.keys(places) as PartName[]
const IN_EXEC: readonly PartName[] = ['code', 'execData']
const IN_CONT: readonly PartName[] = ['pactId', 'step', 'rollback', 'proof', 'contData']
/** Optional parts. */
const OPTIONAL: readonly PartName[] = ['execData', 'proof', 'networkId', 'scheme', 'addr', 'clist']

const text: Part = { taken: texts, refused: notText }
const optionalText: Part = {
  taken: fc.oneof(texts, forms(['null', null])),
  refused: notText.filter((each) => each !== 'null'),
}
const parts: Readonly<Record<PartName, Part>> = {
  ...{ chainId: text, sender: text, gasLimit: whole, gasPrice: price, ttl: whole, creationTime: whole },
  ...{ code: text, execData: { taken: data, refused: badData } },
  pactId: text,
  step: {
    taken: forms(['0', 0], ['1', 1], ['1.0', 1], ['1e0', 1], ['-1', -1], ['120e-1', 12]),
    refused: ['1.5', '"1"', '{"int":1}', 'null', 'true', '[]', '9007199254740992', '1e99999'],
  },
  rollback: { taken: forms(['true', true], ['false', false]), refused: ['null', '0', '"true"', '{}'] },
  proof: optionalText,
  contData: { taken: data, refused: badData },
  ...{ networkId: optionalText, nonce: text, pubKey: text, scheme: optionalText, addr: optionalText },
  clist: { taken: fc.constantFrom(...capabilities), refused: notCapabilities },
}

const objectText = (fields: Readonly<Record<string, string | null>>, order: readonly number[] = []) => {
  const present = Object.entries(fields).filter(([, value]) => value !== null)
  const sorted = present.map((entry, i) => [order[i] ?? i, entry] as const).sort(([a], [b]) => a - b)
  return `{${sorted.map(([, [name, value]]) => `${JSON.stringify(name)}:${value}`).join(' , ')}}`
}

/** The content beside the payload that counts: nothing, null, or for a command that runs code anything at all. */
const besideExec = fc.constantFrom(null, 'null', '{}', '7', '{"pactId":"p","step":0,"rollback":false,"data":{}}')
const besideCont = fc.constantFrom(null, 'null')

/** Commands with an accepted spelling for each part, except for `mistakes` parts with a refused one. */
export function contents(mistakes: fc.Arbitrary<number>): fc.Arbitrary<Contents> {
  const taken = fc.record(Object.fromEntries(names.map((name) => [name, parts[name].taken]))) as fc.Arbitrary<
    Readonly<Record<PartName, Form>>
  >
  const shape = fc.record({
    ...{ isCont: fc.boolean(), besideExec, besideCont, left: fc.subarray([...OPTIONAL]), count: mistakes },
    ...{ picks: fc.array(fc.nat(), { minLength: 6, maxLength: 6 }), order: fc.array(fc.nat(), { maxLength: 7 }) },
  })
  return fc.tuple(taken, shape).map(([good, { isCont, left, count, picks, order, ...beside }]) => {
    const there = names.filter((name) => !(isCont ? IN_EXEC : IN_CONT).includes(name))
    const wrong = [...new Set(Array.from({ length: count }, (_, i) => there[picks[2 * i] % there.length]))]
    const textOf = (name: PartName) => {
      const { refused } = parts[name]
      if (wrong.includes(name)) return refused[picks[2 * wrong.indexOf(name) + 1] % refused.length]
      return left.includes(name) ? null : good[name].text
    }
    const object = (...list: readonly PartName[]) => {
      return objectText(
        Object.fromEntries(list.map((name) => [name.replace(/^(exec|cont)Data$/, 'data'), textOf(name)])),
      )
    }
    const [exec, cont] = [object(...IN_EXEC), object(...IN_CONT)]
    const cmd = objectText(
      {
        payload: objectText(
          isCont ? { exec: beside.besideCont, cont } : { exec, cont: beside.besideExec },
          order.slice(0, 2),
        ),
        meta: object('chainId', 'sender', 'gasLimit', 'gasPrice', 'ttl', 'creationTime'),
        signers: `[${object('pubKey', 'scheme', 'addr', 'clist')}]`,
        ...{ networkId: textOf('networkId'), nonce: textOf('nonce'), other: '{"gasLimit":"x"}' },
      },
      order,
    )
    const means = Object.fromEntries(names.map((name) => [name, left.includes(name) ? undefined : good[name].means]))
    return { cmd, means: means as Contents['means'], wrong }
  })
}

/** Every refused spelling of every part, alone in an otherwise valid command. */
export const mistakes: readonly (readonly [PartName, string])[] = names.flatMap((name) =>
  parts[name].refused.map((each) => [name, each] as const),
)

/** A command with this spelling of one part. */
export function contentsWith(name: PartName, spelling: string): string {
  const good: Readonly<Record<PartName, string | null>> = {
    ...{ chainId: '"0"', sender: '"s"', gasLimit: '600', gasPrice: '1e-8', ttl: '600', creationTime: '0' },
    ...{ code: '"1"', execData: '{}', pactId: '"p"', step: '1', rollback: 'false', proof: null, contData: '{}' },
    ...{ networkId: '"development"', nonce: '"n"', pubKey: '"k"', scheme: null, addr: null, clist: '[]' },
  }
  const object = (...list: readonly PartName[]) =>
    objectText(
      Object.fromEntries(
        list.map((each) => [each.replace(/^(exec|cont)Data$/, 'data'), each === name ? spelling : good[each]]),
      ),
    )
  return objectText({
    payload: IN_CONT.includes(name)
      ? objectText({ cont: object(...IN_CONT) })
      : objectText({ exec: object(...IN_EXEC) }),
    meta: object('chainId', 'sender', 'gasLimit', 'gasPrice', 'ttl', 'creationTime'),
    signers: `[${object('pubKey', 'scheme', 'addr', 'clist')}]`,
    networkId: name === 'networkId' ? spelling : good.networkId,
    nonce: name === 'nonce' ? spelling : good.nonce,
  })
}
