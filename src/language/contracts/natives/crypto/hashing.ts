/** Hash natives, and `typeof`. */
import { keccak_256 } from '@noble/hashes/sha3.js'
import { type ContractError, evalError } from '../../errors.ts'
import { ofHash, SILENT } from '../../machine/gas/cost-names.ts'
import { hashCost } from '../../machine/gas/costs.ts'
import { PRICE } from '../../machine/gas/prices.ts'
import { type Arguments, type Native, native } from '../../machine/native.ts'
import { Callable } from '../../machine/term.ts'
import { typeName } from '../../machine/types.ts'
import { hashText } from '../../values/hash.ts'
import { CapabilityToken, ModuleRef, TableRef, type Value } from '../../values/value.ts'
import { valueToJson } from '../../values/wire.ts'
import { fromBase64Url, toBase64Url } from '../data/base64.ts'
import { weigh } from '../data/weight.ts'

/** Hashes the text of a string, or the wire format of any other value. */
function hashValue(args: Arguments, value: Value): string {
  args.work(hashCost(weigh(value, args)))
  const bytes = typeof value === 'string' ? Buffer.byteLength(value, 'utf8') : args.size(value)
  args.charge(PRICE.hashByte * bytes, ofHash(bytes))
  return hashText(typeof value === 'string' ? value : valueToJson(value))
}

/** Milligas of the public network for each piece, and for each 100 bytes of base64 in all of them. */
const KECCAK_COST = { piece: 2_120, hundredBytes: 146 }
/** Bytes whose time the price covers, and the work of each further one. */
const KECCAK_WORK = { coveredBytes: 4_096, byte: 3 }

/** Hashes the concatenation of all pieces. Pieces and result are base64url. */
function keccak(args: Arguments): string {
  const { length } = args.list(0)
  args.charge(KECCAK_COST.piece * length, SILENT)
  const texts = args.texts(0)
  const bytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0)
  args.charge(KECCAK_COST.hundredBytes * Math.ceil(bytes / 100), () => {
    return `GHashOp (GHashKeccak [${texts.map((text) => Buffer.byteLength(text, 'base64url')).join(',')}])`
  })
  args.work(KECCAK_WORK.byte * Math.max(0, bytes - KECCAK_WORK.coveredBytes))
  const pieces = texts.map((text) => {
    const piece = fromBase64Url(text)
    if (piece === null) throw badPiece(args)
    return piece
  })
  return toBase64Url(keccak_256(Buffer.concat(pieces)))
}

function badPiece({ place }: Arguments): ContractError {
  const what = 'Base64URL decode failed'
  return evalError(`${what}: a piece is not base64url`, place, `Keccak256 Hashing failure: ${what}`)
}

/** Types as `renderType` of Pact 5 writes them: lists and objects without the types of their parts. */
function typeOf({ all: [term] }: Arguments): string {
  if (term instanceof Callable) return '<<closure>>'
  if (term instanceof CapabilityToken) return 'CAPTOKEN'
  if (term instanceof ModuleRef) return `module{${[...term.interfaces].sort().join(', ')}}`
  return term instanceof TableRef && term.schema !== null ? `table{${term.schema.qualified}}` : typeName(term)
}

export const HASHING: readonly Native[] = [
  native('hash', 1, 1, (args) => hashValue(args, args.value(0))),
  native('hash-keccak256', 1, 1, keccak),
  native('typeof', 1, 1, typeOf),
]
