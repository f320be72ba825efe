/** The natives: their numbers in hashed modules, numbers of arguments, and flat prices (Pact/Core/Builtin.hs). */

const row = (names: string): string[] => names.trim().split(/\s+/)

/** In the order of the numbers. `name/arguments`, and `:price` where it is not 100 milligas (Gas/TableGasModel.hs). */
const ROWS = row(`
  +/2 -/2 */2 //2 negate/1 abs/1 ^/2 not/1 =/2 !=/2 >/2 >=/2 </2 <=/2 &/2:250 |/2:250 xor/2:250 ~/1:250 shift/2
  round/1 ceiling/1 floor/1 round-prec/2 ceiling-prec/2 floor-prec/2 exp/1:2000 ln/1:1000 sqrt/1:1000 log/2:1000
  length/1 take/2 drop/2 concat/1 reverse/1 contains/2 sort/1 sort-object/2 remove/2 mod/2 map/2 filter/2 zip/3
  int-to-str/2 str-to-int/1 str-to-int-base/2 fold/3 distinct/1 format/2 enumerate/2 enumerate-step/3 show/1
  read-msg/1:200 read-msg-default/0:200 read-integer/1:200 read-decimal/1:200 read-string/1:200 read-keyset/1:200
  enforce-guard/1:2000 enforce-keyset/1:2000 keyset-ref-guard/1:2000 at/2 make-list/2 base64-encode/1:250
  base64-decode/1:250 str-to-list/1:250 yield/1 yield-to-chain/2 resume/1:500 bind/2 require-capability/1:500
  compose-capability/1:500 install-capability/1:500 emit-event/1:1000 create-capability-guard/1
  create-capability-pact-guard/1 create-module-guard/1:200 create-pact-guard/1:200 create-table/1:250000
  describe-keyset/1:100000 describe-module/1:100000 describe-table/1:100000 define-keyset/2:5000
  define-read-keyset/1:5000 fold-db/3:40000000 insert/3:25000 keys/1:40000000 read/2:2500 select/2:40000000
  select-with-fields/3:40000000 update/3:25000 with-default-read/4:2500 with-read/3:2500 write/3:25000 tx-hash/0
  and?/3 or?/3 where/3 not?/2 hash/1 continue/1 parse-time/2:500 format-time/2:500 time/1:500 add-time/2:250
  diff-time/2:250 hours/1:250 minutes/1:250 days/1:250 compose/3 create-principal/1 is-principal/1
  typeof-principal/1 validate-principal/2:250 namespace/1 define-namespace/3:25000 describe-namespace/1:100000
  chain-data/0:500 is-charset/2:500 pact-id/0 pairing-check/2 scalar-mult/3 point-add/3
  poseidon-hash-hack-a-chain/1:124000 typeof/1 dec/1 cond/1 identity/1 verify-spv/2:100000 enforce-verifier/1:10000
  acquire-module-admin/1:20000 hyperlane-message-id/1:2000 hyperlane-decode-token-message/1:2000
  hyperlane-encode-token-message/1:2000 read-with-fields/3:2500 list-modules/0:100000 static-redeploy/1
  hash-keccak256/1:1000 hash-poseidon/1:124000
`)

interface NativeFacts {
  readonly number: number
  readonly arity: number
  readonly price: number
}

export const NATIVES: ReadonlyMap<string, NativeFacts> = new Map(
  ROWS.map((each, number) => {
    const [, name, arity, price = '100'] = /^(.+)\/(\d)(?::(\d+))?$/.exec(each) ?? []
    return [name, { number, arity: Number(arity), price: Number(price) }]
  }),
)

export const NATIVE_NUMBERS: ReadonlyMap<string, number> = new Map(
  [...NATIVES].map(([name, { number }]) => [name, number]),
)

/** A native that code names, and the number of arguments that selects another one (Desugar.hs, desugarAppArity). */
const OVERLOADS: ReadonlyMap<string, string> = new Map([
  ['- 1', 'negate'],
  ['enumerate 3', 'enumerate-step'],
  ['select 3', 'select-with-fields'],
  ['sort 2', 'sort-object'],
  ['round 2', 'round-prec'],
  ['ceiling 2', 'ceiling-prec'],
  ['floor 2', 'floor-prec'],
  ['str-to-int 2', 'str-to-int-base'],
  ['read-msg 0', 'read-msg-default'],
  ['define-keyset 1', 'define-read-keyset'],
  ['yield 2', 'yield-to-chain'],
  ['read 3', 'read-with-fields'],
])
const selected = new Set(OVERLOADS.values())

/** True for a name that is a native in code. Overloads have no names there; `negate` has one. */
export function isNative(name: string): boolean {
  return NATIVES.has(name) && (name === 'negate' || !selected.has(name))
}

export function overloadOf(native: string, count: number): string {
  return OVERLOADS.get(`${native} ${count}`) ?? native
}

/** Natives that take their arguments as one list. */
export const TAKES_LIST: ReadonlySet<string> = new Set(['poseidon-hash-hack-a-chain', 'hash-poseidon'])
