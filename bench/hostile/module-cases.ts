/** Commands with modules, capabilities, events and pacts. */
import { again, dataOf, deployModule, type HostileCase, listOf, long, moduleOf } from './case.ts'

const time = '(time "2020-01-01T00:00:00Z")'
const faces = (count: number) => listOf(count, (i) => `(interface i${i} (defun f${i}:integer ()))`).join(' ')
const facesOf = (count: number) => listOf(count, (i) => `i${i}`)
const CAP = '(defcap C (v) true) (defcap E (v) @event true) (defcap N (i:integer) true)'
const emitting = (each: string) => [moduleOf('m', `${CAP} (defun go (v) ${again('', each)})`)]
const PACT = `(defpact p (v) (step (yield {"v": v})) (step 1))`

/** Arguments that are numbers of 499,999 bits. */
const HUGE = { bound: '(h (- (shift 1 499998)))', names: listOf(10, (i) => `a${i}`).join(' '), args: long(10, ' h') }

const outputs: readonly HostileCase[] = [
  { name: 'events-small', before: emitting('(emit-event (E v))'), code: '(m.go 1)' },
  { name: 'events-times-40', before: emitting('(emit-event (E v))'), code: `(m.go (make-list 40 ${time}))` },
  { name: 'events-times-1000', before: emitting('(emit-event (E v))'), code: `(m.go (make-list 1000 ${time}))` },
  {
    name: 'events-guards',
    before: emitting('(emit-event (E v))'),
    data: dataOf('k', { keys: listOf(40, (i) => `${i}`.padStart(64, '0')), pred: 'keys-all' }),
    code: '(m.go (read-msg "k"))',
  },
  {
    name: 'events-tokens',
    before: [moduleOf('m', `${CAP} (defun go () ${again('', '(emit-event (E (C 1)))')})`)],
    code: '(m.go)',
  },
  {
    name: 'events-escapes',
    as: 'local',
    before: emitting('(emit-event (E v))'),
    data: dataOf('s', long(200_000, '\u0001')),
    code: '(m.go (read-msg "s"))',
  },
  { name: 'result-times', as: 'local', code: `(make-list 100000 ${time})` },
  { name: 'result-micros', as: 'local', code: `(make-list 100000 (add-time ${time} 0.000001))` },
  { name: 'result-times-doubled', code: `(fold (lambda (a i) [a a]) ${time} (enumerate 1 18))` },
  {
    name: 'result-texts-doubled',
    as: 'local',
    code: `(fold (lambda (a i) [a a]) "${long(200, '\\"')}" (enumerate 1 14))`,
  },
  { name: 'result-decimals', code: `(make-list 4000 1.${long(250, '1')})` },
  { name: 'result-wide-doubled', code: '(fold (lambda (a i) {"a": a, "b": a}) 1 (enumerate 1 17))' },
  {
    name: 'error-of-long-text',
    as: 'local',
    data: dataOf('s', long(1_500_000)),
    code: '(enforce false (read-msg "s"))',
  },
  { name: 'show-times', code: again(`(l (make-list 1000 ${time}))`, '(show l)') },
  { name: 'format-times', code: again(`(l (make-list 1000 ${time}))`, '(format "{}" [l])') },
  { name: 'hash-times', code: again(`(l (make-list 1000 ${time}))`, '(hash l)') },
  {
    name: 'require-message-times',
    before: [moduleOf('m', `${CAP} (defun go (v) ${again('', '(try 1 (require-capability (C v)))')})`)],
    code: `(m.go (make-list 1000 ${time}))`,
  },
  { name: 'large-yield', before: [moduleOf('m', PACT)], code: `(m.p (make-list 100000 ${time}))` },
  { name: 'large-pact-arguments', before: [moduleOf('m', PACT)], code: '(m.p (make-list 100000 1))' },
  {
    name: 'nested-yields',
    before: [
      moduleOf(
        'a',
        `(defpact p (v) (step (yield {"v": v})) (step 1)) ${listOf(40, (i) => `(defpact p${i} (v) (step (yield {"v": v})) (step 1))`).join(' ')}`,
      ),
      moduleOf(
        'b',
        `(defpact q (v) (step (let ((x 1)) ${listOf(40, (i) => `(a.p${i} v)`).join(' ')})) (step (let ((x 1)) 1)))`,
      ),
    ],
    code: `(b.q (make-list 5000 ${time}))`,
  },
  {
    name: 'define-large-keysets',
    as: 'local',
    before: ['(define-namespace "n" (read-keyset "k") (read-keyset "k"))'],
    data: () => keysets(200, 100),
    code: `(namespace "n") ${listOf(200, (i) => `(define-keyset "n.k${i}" (read-keyset "k"))`).join(' ')}`,
  },
  {
    name: 'keep-large-keysets',
    data: () => keysets(1, 200),
    code: `(namespace "free") ${listOf(500, (i) => `(define-keyset "free.k${i}" (read-keyset "k"))`).join(' ')}`,
  },
]

const capabilities: readonly HostileCase[] = [
  {
    name: 'typed-module-ref',
    before: [
      faces(200),
      moduleOf(
        'm',
        `${facesOf(200)
          .map((i) => `(implements ${i})`)
          .join(' ')} ${listOf(200, (i) => `(defun f${i}:integer () 1)`).join(' ')}`,
      ),
      moduleOf(
        'u',
        `(defun f (a:module{${facesOf(200).join(',')}}) 1) (defun go (a:module{i0}) ${again('', '(f a)')})`,
      ),
    ],
    code: '(u.go m)',
  },
  {
    name: 'implements-repeated',
    before: [
      `(interface i ${listOf(20, (k) => `(defun f${k}:integer (${listOf(30, (p) => `p${p}:integer`).join(' ')}))`).join(' ')})`,
    ],
    code: deployModule(
      'm',
      `${long(2000, '(implements i)')} ${listOf(20, (k) => `(defun f${k}:integer (${listOf(30, (p) => `p${p}:integer`).join(' ')}) 1)`).join(' ')}`,
    ),
  },
  { name: 'module-of-many-functions', code: deployModule('m', listOf(1200, (i) => `(defun f${i} () 1)`).join(' ')) },
  { name: 'module-of-many-constants', code: deployModule('m', listOf(1200, (i) => `(defconst C${i} ${i})`).join(' ')) },
  {
    name: 'module-of-a-chain',
    code: deployModule('m', listOf(800, (i) => `(defun f${i} () ${i === 0 ? '1' : `(f${i - 1})`})`).join(' ')),
  },
  {
    name: 'module-that-uses-itself',
    code: deployModule(
      'm',
      `${listOf(300, (i) => `(defun f${i} () 1)`).join(' ')} (defun go () ${listOf(300, (i) => `(f${i})`).join(' ')})`,
    ),
  },
  { name: 'module-large', as: 'local', code: deployModule('m', `(defun f () "${long(400_000)}")`) },
  {
    name: 'module-with-large-data',
    as: 'local',
    data: dataOf('s', long(1_900_000)),
    code: deployModule('m', '(defconst C (length (read-msg "s")))'),
  },
  {
    name: 'module-again',
    before: [moduleOf('m', listOf(300, (i) => `(defun f${i} () 1)`).join(' '))],
    code: long(20, moduleOf('m', listOf(30, (i) => `(defun f${i} () 1)`).join(' '))),
  },
  {
    name: 'signer-names-slots',
    before: [
      moduleOf(
        'm',
        `${CAP} (defcap A () ${listOf(300, (i) => `(compose-capability (N ${i}))`).join(' ')} true)
        (defun go (g) (with-capability (A) ${again('', '(try 1 (enforce-guard g))')}))`,
      ),
    ],
    data: dataOf('k', { keys: ['368820f80c324bbc7c2b0610688a7da43e39f91d118732671cd9c7500ff43cca'], pred: 'keys-all' }),
    capabilities: () =>
      JSON.stringify([
        { name: 'coin.GAS', args: [] },
        ...listOf(300, (i) => ({ name: 'm.N', args: [{ int: 1000 + i }] })),
      ]),
    code: '(m.go (read-keyset "k"))',
  },
  {
    name: 'compose-many',
    before: [
      moduleOf(
        'm',
        `${CAP} (defcap A () ${listOf(600, (i) => `(compose-capability (N ${i}))`).join(' ')} true) (defun go () (with-capability (A) 1))`,
      ),
    ],
    code: '(m.go)',
  },
  {
    name: 'with-capability-nested',
    before: [
      moduleOf('m', `${CAP} (defun go () (fold (lambda (a i) (with-capability (N i) i)) 0 (enumerate 1 100000)))`),
    ],
    code: '(m.go)',
  },
  {
    name: 'require-held',
    before: [moduleOf('m', `${CAP} (defun go (v) (with-capability (C v) ${again('', '(require-capability (C v))')}))`)],
    code: '(m.go (make-list 1000 1))',
  },
  {
    name: 'tokens-large',
    before: [moduleOf('m', `${CAP} (defun go (v) ${again('', '(C v)')})`)],
    code: '(m.go (make-list 10000 1))',
  },
  {
    name: 'tokens-of-many-huge',
    before: [moduleOf('m', `(defcap C (${HUGE.names}) true) (defun go () ${again(HUGE.bound, `(C ${HUGE.args})`)})`)],
    code: '(m.go)',
  },
  {
    name: 'guards-of-many-huge',
    before: [
      moduleOf(
        'm',
        `(defcap C (${HUGE.names}) true) (defun go () ${again(`${HUGE.bound} (c (C ${HUGE.args}))`, '(create-capability-guard c)')})`,
      ),
    ],
    code: '(m.go)',
  },
  {
    name: 'try-with-admin',
    before: listOf(60, (i) => moduleOf(`m${i}`, '(defun f () 1)')),
    code: `${listOf(60, (i) => `(acquire-module-admin m${i})`).join(' ')} ${again('', '(try 1 2)')}`,
  },
  {
    name: 'install-many',
    before: [
      moduleOf(
        'm',
        '(defcap M (a:integer) @managed true) (defun go () (map (lambda (i) (install-capability (M i))) (enumerate 1 100000)))',
      ),
    ],
    code: '(length (m.go))',
  },
  {
    name: 'user-guards',
    before: [moduleOf('m', '(defun ok () true) (defun go () (create-user-guard (ok)))')],
    code: again('(g (m.go))', '(enforce-guard g)'),
  },
  {
    name: 'members-by-reference',
    before: [
      '(interface i (defun f:integer ()))',
      moduleOf('m', '(implements i) (defun f:integer () 1)'),
      moduleOf('u', `(defun go (a:module{i}) ${again('', '(a::f)')})`),
    ],
    code: '(u.go m)',
  },
  { name: 'same-signer-many', as: 'local', signers: 20_000, code: '1' },
  {
    name: 'signer-of-many-capabilities',
    as: 'local',
    capabilities: () =>
      JSON.stringify([{ name: 'coin.GAS', args: [] }, ...listOf(40_000, (i) => ({ name: 'm.N', args: [i] }))]),
    code: '1',
  },
  {
    name: 'signer-of-a-huge-number',
    as: 'local',
    capabilities: () => `[{"name":"coin.GAS","args":[]},{"name":"m.N","args":[${long(1_500_000, '7')}]}]`,
    code: '1',
  },
  {
    name: 'payer-that-loops',
    before: [
      `(interface gas-payer-v2 (defcap GAS_PAYER:bool (user:string limit:integer price:decimal)))`,
      moduleOf(
        'm',
        `(defcap GAS_PAYER:bool (user:string limit:integer price:decimal) ${again('(h (shift 1 400000))', '[h]')} true)`,
      ),
    ],
    capabilities: () => '[{"name":"m.GAS_PAYER","args":["",{"int":1},1.0]}]',
    code: '1',
  },
  { name: 'describe-modules', as: 'local', code: long(200, '(describe-module "coin")') },
]

function keysets(count: number, keys: number): string {
  const each = { keys: listOf(keys, (i) => i.toString(16).padStart(64, '0')), pred: 'keys-all' }
  return JSON.stringify(Object.fromEntries([['k', each], ...listOf(count - 1, (i) => [`n.k${i}`, { keys: [] }])]))
}

export const moduleCases: readonly HostileCase[] = [...outputs, ...capabilities]
