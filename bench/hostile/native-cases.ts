/** Every native with large arguments, again and again. A new native without a line here fails a test. */
import { developmentAccounts } from '../../src/ground/chain/development-accounts.ts'
import { again, type HostileCase, listOf, long } from './case.ts'
import { G1_ORDER, points, proof, tokenMessage } from './native-data.ts'

const [{ publicKey }] = developmentAccounts

const TOKEN = '(c (C l))'
/**
 * Large values under short names: integer, decimals of 255 places (of a few digits and of many), text, list, object,
 * keyset, time, texts.
 */
const VALUES =
  '(n (shift 1 100000)) (p (read-decimal "p")) (d (+ p (dec (shift 1 100000)))) (s (read-msg "s")) ' +
  '(l (read-msg "l")) (o (read-msg "o")) (k (read-keyset "k")) (t (time "2020-01-01T00:00:00Z")) ' +
  '(ss (read-msg "ss")) (b (read-msg "b"))'

/** Fields of the row, so that natives of tables walk it. */
const FIELDS = 1000
const row = `{${listOf(FIELDS, (i) => `"f${i}": ${i}`).join(',')}}`

let text: string | null = null
/** The same for each native, so made once in a process. */
function data(): string {
  text ??= JSON.stringify({
    s: long(100_000, 'é'),
    b: long(100_000, 'A'),
    l: listOf(10_000, (i) => i),
    ss: listOf(10_000, (i) => `f${i}`),
    o: Object.fromEntries(listOf(FIELDS, (i) => [`f${i}`, i])),
    p: `1.${long(254, '0')}1`,
    digits: long(10_000, '7'),
    // The key that signs is the last one.
    k: { keys: [...listOf(300, (i) => i.toString(16).padStart(64, '0')), publicKey], pred: 'keys-any' },
    message: tokenMessage(),
    proof: proof(),
    ...points(),
  })
  return text
}

const WORD = long(43, 'A')
const MESSAGE = `{"version": 3, "nonce": 1, "originDomain": 1, "sender": "${WORD}", "destinationDomain": 1,
  "recipient": "${WORD}", "messageBody": b}`

/** Native -> a call of it with large arguments. `i` counts the rounds. */
export const NATIVE_CALLS: Readonly<Record<string, string>> = {
  '+': '(+ s s)',
  '-': '(- d n)',
  negate: '(negate n)',
  '*': '(* d d)',
  '/': '(/ d 3.0)',
  mod: '(mod n 7)',
  '^': '(^ p 2.0)',
  abs: '(abs d)',
  dec: '(dec n)',
  round: '(round d 3)',
  floor: '(floor d)',
  ceiling: '(ceiling d)',
  sqrt: '(sqrt (+ p (dec (shift 1 1000))))',
  ln: '(ln (+ p (dec (shift 1 1000))))',
  log: '(log 2.5 (+ p (dec (shift 1 1000))))',
  exp: '(exp (- 700.0))',
  '&': '(& n n)',
  '|': '(| n 1)',
  xor: '(xor n 1)',
  '~': '(~ n)',
  shift: '(shift n 1000)',
  '=': '(= o o)',
  '!=': '(!= l l)',
  '<': '(< d 1.0)',
  '<=': '(<= s s)',
  '>': '(> n n)',
  '>=': '(>= d d)',
  not: '(not true)',
  'not?': '(not? (= l) l)',
  'and?': '(and? (= l) (= l) l)',
  'or?': '(or? (!= l) (= l) l)',
  where: '(where "f1" (= 1) o)',
  length: '(length s)',
  take: '(take 90000 s)',
  drop: '(drop ss o)',
  reverse: '(reverse s)',
  sort: '(sort ss)',
  'make-list': '(make-list 100 o)',
  enumerate: '(enumerate 1 10000)',
  contains: '(contains "x" s)',
  distinct: '(distinct (take 500 ss))',
  at: '(at "f1" o)',
  remove: '(remove "f1" o)',
  map: '(map (+ 1) l)',
  filter: '(filter (= 1) l)',
  fold: '(fold (+) 0 l)',
  zip: '(zip (+) l l)',
  compose: '(compose (take 1) (drop 1) s)',
  identity: '(identity o)',
  format: '(format "{}{}" [o s])',
  concat: '(concat ss)',
  show: '(show o)',
  'str-to-list': '(str-to-list s)',
  'str-to-int': '(str-to-int 64 (take 512 b))',
  'int-to-str': '(int-to-str 10 n)',
  'is-charset': '(is-charset 0 b)',
  'base64-encode': '(base64-encode s)',
  'base64-decode': '(base64-decode b)',
  time: '(time "2020-01-01T00:00:00Z")',
  'parse-time': '(parse-time "%Y%Y%Y%Y%k%k%k" "11111111111111111111")',
  'format-time': '(format-time (take 900 b) t)',
  'add-time': '(add-time t 1.000000000000000000000000000000000000001)',
  'diff-time': '(diff-time t t)',
  minutes: '(minutes d)',
  hours: '(hours d)',
  days: '(days d)',
  hash: '(hash o)',
  'hash-keccak256': '(hash-keccak256 [b b])',
  typeof: '(typeof ss)',
  'create-principal': '(create-principal k)',
  'validate-principal': '(validate-principal k s)',
  'is-principal': '(is-principal s)',
  'typeof-principal': '(typeof-principal s)',
  'hash-poseidon': '(hash-poseidon n n n n n n n n)',
  'poseidon-hash-hack-a-chain': '(poseidon-hash-hack-a-chain n n n n n n n n)',
  'pairing-check': '(pairing-check (read-msg "g1") (read-msg "g2"))',
  'point-add': '(point-add "g1" {"x": x, "y": y} {"x": x, "y": y})',
  'scalar-mult': '(scalar-mult "g1" {"x": x, "y": y} n)',
  'hyperlane-message-id': `(hyperlane-message-id ${MESSAGE})`,
  'hyperlane-decode-token-message': '(hyperlane-decode-token-message (read-msg "message"))',
  'hyperlane-encode-token-message': '(hyperlane-encode-token-message {"amount": 1.0, "chainId": "1", "recipient": b})',
  'verify-spv': '(verify-spv "TXOUT" (read-msg "proof"))',
  'static-redeploy': '(static-redeploy "m")',
  // With parentheses both are forms.
  and: '(fold and true (make-list 1000 true))',
  or: '(fold or false (make-list 1000 false))',
  'read-msg': '(read-msg "o")',
  'read-string': '(read-string "s")',
  'read-integer': '(read-integer "digits")',
  'read-decimal': '(read-decimal "digits")',
  'read-keyset': '(read-keyset "k")',
  'tx-hash': '(tx-hash)',
  'pact-id': '(pact-id)',
  'chain-data': '(chain-data)',
  continue: '(continue s)',
  'enforce-guard': '(enforce-guard k)',
  'enforce-keyset': '(enforce-keyset k)',
  'keyset-ref-guard': '(keyset-ref-guard "big")',
  'require-capability': '(require-capability c)',
  'compose-capability': '(compose-capability c)',
  'install-capability': '(install-capability (M l i))',
  'emit-event': '(emit-event (E l))',
  'create-capability-guard': '(create-capability-guard c)',
  'create-capability-pact-guard': '(create-capability-pact-guard c)',
  'create-module-guard': '(create-module-guard s)',
  'create-pact-guard': '(create-pact-guard s)',
  'acquire-module-admin': '(acquire-module-admin m)',
  'enforce-verifier': '(enforce-verifier "allow")',
  yield: '(yield o)',
  insert: '(insert tab (format "{}" [i]) o)',
  update: '(update tab "k" {"f1": s})',
  write: '(write tab "k" o)',
  'create-table': '(create-table m.t0)',
  read: '(read tab "k" ss)',
  keys: '(keys tab)',
  select: '(select tab (where "f1" (= 1)))',
  'fold-db': '(fold-db tab (lambda (k r) true) (lambda (k r) r))',
  'describe-table': '(describe-table m.tab)',
  'define-keyset': '(define-keyset "free.k" k)',
  'describe-keyset': '(describe-keyset "big")',
  namespace: '(namespace "free")',
  'define-namespace': '(define-namespace name k k)',
  'describe-namespace': '(describe-namespace "free")',
  'describe-module': '(describe-module "coin")',
  'list-modules': '(list-modules)',
}

/** Where a native may be called, if not anywhere in a module. */
const PLACES: Readonly<Record<'top' | 'step' | 'capability', ReadonlySet<string>>> = {
  // The public network does not have the first, so no module may call it.
  top: new Set([
    'negate',
    'static-redeploy',
    'describe-table',
    'describe-keyset',
    'define-keyset',
    'namespace',
    'define-namespace',
    'describe-namespace',
    'describe-module',
    'list-modules',
  ]),
  step: new Set(['pact-id', 'create-pact-guard', 'create-capability-pact-guard', 'yield']),
  capability: new Set(['compose-capability', 'enforce-verifier']),
}
/** Natives whose failures end the command, or which `try` would forbid to write. They do not fail. */
const BARE: ReadonlySet<string> = new Set([
  'insert',
  'update',
  'write',
  'keys',
  'select',
  'fold-db',
  'install-capability',
  'emit-event',
  ...PLACES.top,
])
/** Natives that take different arguments in each round. */
const ONCE: ReadonlySet<string> = new Set(['insert', 'install-capability'])

/** Coordinates of a point of G1, to be reduced. */
const COORDINATES = `(many (* ${G1_ORDER} (shift 1 100000))) (x (+ many 1)) (y (+ many 2))`
/** Bindings that one native needs. */
const BINDINGS: Readonly<Record<string, string>> = {
  'define-namespace': '(name (ns.create-principal-namespace k))',
  'point-add': COORDINATES,
  'scalar-mult': COORDINATES,
}
/** A capability with a long list, granted by a verifier. */
const GRANTED = `{"name":"m.GO","args":[${JSON.stringify(listOf(10_000, (i) => i))}]}`

const TABLES = 590
/** A table can be created once. */
const createTables: HostileCase = {
  name: 'native create-table',
  as: 'local',
  before: [
    `(module m G (defcap G () true) (defschema s ${listOf(FIELDS, (i) => `f${i}`).join(' ')})
      ${listOf(TABLES, (i) => `(deftable t${i}:{s})`).join(' ')})`,
  ],
  code: `(acquire-module-admin m) ${listOf(TABLES, (i) => `(create-table m.t${i})`).join(' ')}`,
}

function nativeCase(name: string, call: string): HostileCase {
  const place = (Object.keys(PLACES) as (keyof typeof PLACES)[]).find((each) => PLACES[each].has(name))
  const values = `${VALUES} ${place === 'top' ? '' : TOKEN} ${BINDINGS[name] ?? ''}`
  const loop = again(values, BARE.has(name) ? call : `(try 0 ${call})`, ONCE.has(name) ? 1 : 4)
  const bodies = {
    top: '(defun go () 1)',
    step: `(defpact go () (step ${loop}) (step 1))`,
    capability: `(defcap GO (list) ${loop} true) (defun go () (with-capability (GO (read-msg "l")) 1))`,
    module: `(defun go () ${loop})`,
  }
  const before = [
    `(module m G (defcap G () true) (defschema s ${listOf(FIELDS, (i) => `f${i}`).join(' ')}) (deftable tab:{s})
      (defcap C (v) true) (defcap E (v) @event true) (defcap M (v w) @managed true) ${bodies[place ?? 'module']})
    (create-table m.tab) (acquire-module-admin m) (insert m.tab "k" ${row}) (define-keyset "big" (read-keyset "k"))`,
  ]
  const code = place === 'top' ? `(namespace "free") ${loop}` : '(m.go)'
  const verifiers = () => `[{"name":"allow","proof":${JSON.stringify(GRANTED)},"clist":[${GRANTED}]}]`
  return {
    name: `native ${name}`,
    as: 'local',
    data,
    before,
    code,
    ...(name === 'enforce-verifier' && { verifiers }),
  }
}

export const nativeCases: readonly HostileCase[] = Object.entries(NATIVE_CALLS).map(([name, call]) =>
  name === 'create-table' ? createTables : nativeCase(name, call),
)
