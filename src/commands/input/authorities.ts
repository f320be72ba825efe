/** The certificate authorities of `--ca`. */
import { existsSync } from 'node:fs'
import { checkAuthorities } from '#client/node/authorities.ts'
import { operatingError } from '#ground/base/errors.ts'
import { fileText } from './code-argument.ts'
import { commandErrors } from './errors.ts'

/**
 * @returns the certificates of `--ca` in PEM form, or undefined without the option or without TLS on the connection.
 * @throws NewcutError BAD_OPTION, or BAD_INPUT for a file that cannot be read
 */
export function readAuthorities(
  { ca, insecure }: { readonly ca: string | undefined; readonly insecure: boolean },
  isTls: boolean,
): string | undefined {
  if (ca === undefined || !isTls) return undefined
  if (insecure) {
    throw operatingError(commandErrors.caAndInsecure)
  }
  if (!existsSync(ca)) {
    throw operatingError(commandErrors.missingAuthorities, { file: ca })
  }
  const text = fileText(ca)
  checkAuthorities(text, `--ca ${ca}`)
  return text
}
