/** Signatures of request files: merged from several files, added by keys, and checked. */

import type { SignedCommand } from '#client/wallet/command.ts'
import type { SigningKey } from '#client/wallet/keys.ts'
import { signatureFault } from '#devnet/mempool/signatures.ts'
import { decodeHash } from '#ground/base/bytes.ts'
import { NewcutError } from '#ground/base/errors.ts'
import type { OpenCommand } from './request-file.ts'

/**
 * Merges files of one command. Throws NewcutError BAD_INPUT if they have different commands, or if a signature is wrong.
 */
export function mergeCommands([first, ...others]: readonly [OpenCommand, ...OpenCommand[]]): OpenCommand {
  const other = others.find(({ hash }) => hash !== first.hash)
  if (other !== undefined) {
    const message = `${first.path} and ${other.path} are different commands: ${first.hash} and ${other.hash}`
    throw new NewcutError('BAD_INPUT', message, { hint: 'sign one file; a request file makes a new command each time' })
  }
  const all = [first, ...others]
  for (const { path, sigs, signers, hash } of all) {
    const bytes = decodeHash(hash, 'hash')
    for (const [i, sig] of sigs.entries()) {
      const fault = sig === null ? null : signatureFault(sig, { scheme: null, addr: null, ...signers[i] }, bytes)
      if (fault !== null) throw new NewcutError('BAD_INPUT', `${path}: sigs.${i} of ${signers[i].pubKey}: ${fault}`)
    }
  }
  const sigs = first.signers.map((_, i) => all.map((each) => each.sigs[i]).find((sig) => sig !== null) ?? null)
  return { ...first, sigs, keys: all.flatMap(({ keys }) => keys) }
}

/** Adds the signatures of these keys. Throws NewcutError BAD_OPTION for a key that is not among the signers. */
export function addSignatures(command: OpenCommand, keys: readonly SigningKey[]): OpenCommand {
  const stranger = keys.find(({ publicKey }) => command.signers.every(({ pubKey }) => pubKey !== publicKey))
  if (stranger !== undefined) {
    throw new NewcutError('BAD_OPTION', `--key: ${command.path} has no signer ${stranger.publicKey}`, {
      hint: `its signers are ${command.signers.map(({ pubKey }) => pubKey).join(', ')}`,
    })
  }
  const bytes = decodeHash(command.hash, 'hash')
  const own = [...command.keys, ...keys]
  const sigs = command.signers.map(({ pubKey }, i) => {
    return command.sigs[i] ?? own.find(({ publicKey }) => publicKey === pubKey)?.sign(bytes) ?? null
  })
  return { ...command, sigs }
}

/** The command as nodes accept it. Throws NewcutError BAD_INPUT that names the missing signatures. */
export function completeCommand({ path, hash, cmd, sigs, signers }: OpenCommand): SignedCommand {
  const missing = signers.filter((_, i) => sigs[i] === null).map(({ pubKey }) => pubKey)
  if (missing.length > 0) {
    throw new NewcutError('BAD_INPUT', `${path} lacks the signatures of ${missing.join(', ')}`, {
      hint: 'newcut sign FILE --key KEY adds them',
    })
  }
  return { hash, sigs: sigs.flatMap((sig) => (sig === null ? [] : [{ sig }])), cmd }
}
