/** Natives that this network does not support. They exist by name so that code which mentions them can be loaded. */
import { type Native, native } from '../machine/native.ts'

export const REFUSED_NAMES: readonly string[] = [
  'hash-poseidon',
  'poseidon-hash-hack-a-chain',
  'pairing-check',
  'point-add',
  'scalar-mult',
  'hyperlane-message-id',
  'hyperlane-decode-token-message',
  'hyperlane-encode-token-message',
  'verify-spv',
  'static-redeploy',
]

/** Accepts many arguments, so that the caller sees the refusal and not an arity error. */
const MOST = 16

export const REFUSED: readonly Native[] = REFUSED_NAMES.map((name) =>
  native(name, 1, MOST, (args) => {
    throw args.error(`${name} is not available on this network`)
  }),
)
