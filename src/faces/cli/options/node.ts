/** Options that name a node, and what newcut trusts about it. */
import { certificateFingerprint, firstNodeUrl, someText, texts, type ValueKind, yesNo } from '../values.ts'
import { option, optional } from './row.ts'

const ofTls = { group: 'tls', needs: ['tls', 'anyCertificate'] } as const

/** The certificates to trust. */
export const tlsOptions = {
  insecure: option(yesNo, false, null, 'do not check TLS certificates', ofTls),
  ca: optional(someText, 'FILE', 'CA certificates to trust (PEM)', {
    ...ofTls,
    more: 'Only these authorities may sign the certificate.',
  }),
  fingerprint: optional(certificateFingerprint, 'SHA256', 'SHA-256 of the only certificate to accept', {
    group: 'tls',
    needs: ['tls'],
  }),
}

/** The node that a command asks, and the certificates to trust. */
export const nodeOptions = {
  node: option(firstNodeUrl, 'http://127.0.0.1:1848', 'URL', 'node to ask', { group: 'node', plural: 'nodes' }),
  ...tlsOptions,
}

/** Files of networks, which may be several. */
export const networkFiles = optional(texts, 'FILE', 'file that describes a network', {
  plural: 'network-files',
  more: 'YAML or JSON with the form of networks/*.yaml. Repeat it for several networks.',
})

/** One text: the first, if the configuration has several for other commands. */
const firstText: ValueKind<string> = {
  expected: someText.expected,
  parse: (raw) => texts.parse(raw)?.[0],
  format: (value) => value,
}

/** The file of one network: the first, if the configuration has several. */
export const oneNetworkFile = optional(firstText, 'FILE', 'file that describes the network', {
  plural: 'network-files',
})
