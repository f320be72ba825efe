/**
 * Names of costs, as the gas log of the network's test runner prints them. A charge gets a function that makes its name,
 * because only logs need it.
 */
import type { Decimal } from '../../values/decimal.ts'
import { countCharacters } from './prices.ts'

/** @param milligas of the cost */
export type CostName = (milligas: number) => string

/** Name of a part of a cost. The log adds its milligas to those of the next cost. */
export const SILENT: CostName = () => ''

/** A cost by its milligas alone. */
export const ofConstant = (milligas: number): string => `GAConstant (MilliGas ${milligas})`

export const ofTextParse = (text: string): CostName => {
  return () => `GStrOp (StrOpParse ${countCharacters(text)})`
}

export const ofLookup = (field: string, fields: number): CostName => {
  return () => `GObjOp (ObjOpLookup ${shownText(field)} ${fields})`
}

export const ofTextOperation = (operation: string, ...numbers: readonly number[]): CostName => {
  return () => `GStrOp (${[operation, ...numbers].join(' ')})`
}

export const ofRead =
  (bytes: number): CostName =>
  () =>
    `GRead ${bytes}`
export const ofWrite =
  (bytes: number): CostName =>
  () =>
    `GWrite ${bytes}`
export const ofHash =
  (bytes: number): CostName =>
  () =>
    `GHashOp (GHashBlake ${bytes})`
export const ofText =
  (length: number): CostName =>
  () =>
    `GConcat (TextConcat (GasTextLength ${length}))`
export const ofList =
  (length: number): CostName =>
  () =>
    `GConcat (ListConcat (GasListLength ${length}))`
export const ofObject =
  (fields: number): CostName =>
  () =>
    `GConcat (ObjConcat ${fields})`
export const ofComparison = (kind: string, ...values: readonly (string | number)[]): CostName => {
  return () => `GComparison (${[kind, ...values].join(' ')})`
}

type IntegerOperation = 'Add' | 'Sub' | 'Mul' | 'Div' | 'Shift' | 'Pow'

export const ofIntegers = (operation: IntegerOperation, one: bigint, other: bigint): CostName => {
  return () => `GIntegerOpCost PrimOp${operation} ${shownNumber(one)} ${shownNumber(other)}`
}

/** A call of a function of a module, or of a lambda. */
export function ofCall(fun: CalledFunction | null, args: number): CostName {
  return () => `GAApplyLam ${fun === null ? 'Nothing' : `(Just (${shownName(fun)}))`} ${args}`
}

interface CalledFunction {
  readonly name: string
  readonly module: { readonly bareName: string; readonly namespace: string | null; readonly hash: string }
}

function shownName({ name, module: { bareName, namespace, hash } }: CalledFunction): string {
  const shownNamespace = namespace === null ? 'Nothing' : `Just ${shownText(namespace)}`
  const module = `ModuleName {_mnName = ${shownText(bareName)}, _mnNamespace = ${shownNamespace}}`
  const names = `_fqModule = ${module}, _fqName = ${shownText(name)}`
  return `FullyQualifiedName {${names}, _fqHash = ModuleHash {_mhHash = ${shownText(hash)}}}`
}

/** A native by its name and the number of its arguments. */
export function ofNative(name: string, count: number): CostName {
  return () => {
    const isOfTests = OF_TESTS.has(name)
    const known = NATIVES.get(`${name} ${count}`) ?? NATIVES.get(name)
    return `GNative (${isOfTests ? 'RBuiltinRepl' : 'RBuiltinWrap'} ${known ?? `${isOfTests ? 'R' : 'Core'}${camelCase(name)}`})`
  }
}

/** Numbers that are negative stand in parentheses. */
export function shownNumber(number: bigint | Decimal): string {
  const text = number.toString()
  return text.startsWith('-') ? `(${text})` : text
}

const NAMED = new Map([
  [7, 'a'],
  [8, 'b'],
  [9, 't'],
  [10, 'n'],
  [11, 'v'],
  [12, 'f'],
  [13, 'r'],
])
const CONTROLS =
  `NUL SOH STX ETX EOT ENQ ACK a b t n v f r SO SI DLE DC1 DC2 DC3 DC4 NAK SYN ETB CAN EM SUB ESC FS GS RS US`.split(
    ' ',
  )

/** A text in quotes. Characters beyond ASCII are decimal numbers. */
export function shownText(text: string): string {
  let shown = ''
  let isNumber = false
  for (const character of text) {
    const code = character.codePointAt(0) as number
    if (isNumber && /\d/.test(character)) shown += '\\&'
    isNumber = code > 126
    if (character === '"' || character === '\\') shown += `\\${character}`
    else if (code === 127) shown += '\\DEL'
    else if (code < 32) shown += `\\${NAMED.get(code) ?? CONTROLS[code]}`
    else shown += isNumber ? `\\${code}` : character
  }
  return `"${shown}"`
}

function camelCase(name: string): string {
  return name.replace(/(?:^|-)(\w)(\w*)/g, (_, first: string, rest: string) => first.toUpperCase() + rest)
}

/** Natives that only test files have. */
const OF_TESTS: ReadonlySet<string> = new Set(
  `begin-tx commit-tx continue-pact enforce-pact-version env-chain-data env-data env-enable-repl-natives env-events
  env-exec-config env-gas env-gaslimit env-gaslog env-gasmodel env-hash env-keys env-milligas env-module-admin
  env-namespace-policy env-set-debug-flag env-set-milligas env-sigs env-stackframe env-verifiers expect expect-failure
  expect-that load pact-state pact-version print rollback-tx sig-keyset test-capability typecheck`.split(/\s+/),
)

/**
 * Natives whose names there do not follow from theirs here. A number is that of the arguments, which select one of several
 * natives.
 */
const NATIVES: ReadonlyMap<string, string> = new Map(
  `+: CoreAdd; -: CoreSub; - 1: CoreNegate; *: CoreMultiply; /: CoreDivide; ^: CorePow; =: CoreEq; !=: CoreNeq; >: CoreGT
  >=: CoreGEQ; <: CoreLT; <=: CoreLEQ; &: CoreBitwiseAnd; |: CoreBitwiseOr; xor: CoreBitwiseXor; ~: CoreBitwiseFlip
  shift: CoreBitShift; log: CoreLogBase; enumerate 3: CoreEnumerateStepN; select 3: CoreSelectWithFields
  sort 2: CoreSortObject; round 2: CoreRoundPrec; ceiling 2: CoreCeilingPrec; floor 2: CoreFloorPrec
  str-to-int 2: CoreStrToIntBase; read-msg 0: CoreReadMsgDefault; define-keyset: CoreDefineKeySet
  define-keyset 1: CoreDefineKeysetData; yield 2: CoreYieldToChain; read 3: CoreReadWithFields
  create-pact-guard: CoreCreateDefPactGuard; base64-encode: CoreB64Encode; base64-decode: CoreB64Decode; and?: CoreAndQ
  or?: CoreOrQ; not?: CoreNotQ; typeof-principal: CoreTypeOfPrincipal; typeof: CoreTypeOf; verify-spv: CoreVerifySPV
  pairing-check: CoreZkPairingCheck; scalar-mult: CoreZKScalarMult; point-add: CoreZkPointAdd
  poseidon-hash-hack-a-chain: CorePoseidonHashHackachain; hyperlane-decode-token-message: CoreHyperlaneDecodeMessage
  hyperlane-encode-token-message: CoreHyperlaneEncodeMessage; env-stackframe: REnvStackFrame
  env-milligas: REnvMilliGas; env-set-milligas: REnvSetMilliGas; env-gas 1: REnvGasSet; env-gaslimit: REnvGasLimit
  env-gaslog: REnvGasLog; env-gasmodel: REnvGasModel; env-gasmodel 0: REnvAskGasModel
  enforce-pact-version: REnforcePactVersionMin; enforce-pact-version 2: REnforcePactVersionRange; load 2: RLoadWithEnv
  begin-tx 1: RBeginNamedTx; expect-failure 3: RExpectFailureMatch; pact-state 1: RResetPactState
  continue-pact 2: RContinuePactRollback; continue-pact 3: RContinuePactRollbackYield
  continue-pact 4: RContinuePactRollbackYieldObj`
    .split(/;|\n/)
    .map((each) => each.trim().split(': ') as [string, string]),
)
