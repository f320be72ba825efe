/** Signatures of request files: merged from several files, added by keys, and checked. */

import type { SignedCommand } from '#client/wallet/command.ts'
import type { SigningKey } from '#client/wallet/keys.ts'
import { signatureFault } from '#devnet/mempool/signatures.ts'
import { decodeHash } from '#ground/base/bytes.ts'
import { operatingError } from '#ground/base/errors.ts'
import { commandErrors } from './errors.ts'
import type { OpenCommand } from './request-file.ts'

/**
 * Merges files of one command.
 * @throws NewcutError BAD_INPUT if they have different commands, or if a signature is wrong
 */
export function mergeCommands([first, ...others]: readonly [OpenCommand, ...OpenCommand[]]): OpenCommand {
  const other = others.find(({ hash }) => hash !== first.hash)
  if (other !== undefined) {
    throw operatingError(commandErrors.differentCommands, {
      file: first.path,
      other: other.path,
      hash: first.hash,
      otherHash: other.hash,
    })
  }
  const all = [first, ...others]
  for (const { path, sigs, signers, hash } of all) {
    const bytes = decodeHash(hash, 'hash')
    for (const [i, sig] of sigs.entries()) {
      const fault = sig === null ? null : signatureFault(sig, { scheme: null, addr: null, ...signers[i] }, bytes)
      if (fault === null) continue
      throw operatingError(commandErrors.wrongSignature, { file: path, index: i, key: signers[i].pubKey, fault })
    }
  }
  const sigs = first.signers.map((_, i) => all.map((each) => each.sigs[i]).find((sig) => sig !== null) ?? null)
  return { ...first, sigs, keys: all.flatMap(({ keys }) => keys) }
}

/**
 * Adds the signatures of these keys.
 * @throws NewcutError BAD_OPTION for a key that is not among the signers
 */
export function addSignatures(command: OpenCommand, keys: readonly SigningKey[]): OpenCommand {
  const stranger = keys.find(({ publicKey }) => command.signers.every(({ pubKey }) => pubKey !== publicKey))
  if (stranger !== undefined) {
    const signers = command.signers.map(({ pubKey }) => pubKey).join(', ')
    throw operatingError(commandErrors.foreignSigner, { file: command.path, key: stranger.publicKey, signers })
  }
  const bytes = decodeHash(command.hash, 'hash')
  const own = [...command.keys, ...keys]
  const sigs = command.signers.map(({ pubKey }, i) => {
    return command.sigs[i] ?? own.find(({ publicKey }) => publicKey === pubKey)?.sign(bytes) ?? null
  })
  return { ...command, sigs }
}

/**
 * The command as nodes accept it.
 * @throws NewcutError BAD_INPUT that names the missing signatures
 */
export function completeCommand({ path, hash, cmd, sigs, signers }: OpenCommand): SignedCommand {
  const missing = signers.filter((_, i) => sigs[i] === null).map(({ pubKey }) => pubKey)
  if (missing.length > 0) {
    throw operatingError(commandErrors.missingSignatures, { file: path, keys: missing.join(', ') })
  }
  return { hash, sigs: sigs.flatMap((sig) => (sig === null ? [] : [{ sig }])), cmd }
}
