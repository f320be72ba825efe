/** The certificate authorities of `--ca`. */
import { existsSync } from 'node:fs'
import { checkAuthorities } from '#client/node/authorities.ts'
import { NewcutError } from '#ground/base/errors.ts'
import { fileText } from './code-argument.ts'

/**
 * @returns the certificates of `--ca` in PEM form, or undefined without the option or without TLS on the connection. Throws NewcutError BAD_OPTION, or BAD_INPUT for a file that cannot be read.
 */
export function readAuthorities(
  { ca, insecure }: { readonly ca: string | undefined; readonly insecure: boolean },
  isTls: boolean,
): string | undefined {
  if (ca === undefined || !isTls) return undefined
  if (insecure) {
    const reason = "one checks the node's certificate, the other does not"
    throw new NewcutError('BAD_OPTION', `--ca and --insecure exclude each other: ${reason}`, { hint: 'give one' })
  }
  if (!existsSync(ca)) {
    const hint = "expected the certificate, in PEM form, of the authority that signed the node's"
    throw new NewcutError('BAD_INPUT', `--ca ${ca}: no such file`, { hint })
  }
  const text = fileText(ca)
  checkAuthorities(text, `--ca ${ca}`)
  return text
}
