/** Errors of the NATS connection of a fleet. `{name}` stands for what the throwing place passes. */
import { errorRows } from '#ground/base/errors.ts'

const CREDENTIALS =
  'expected a file of credentials (BEGIN NATS USER JWT ..., as nsc writes it), or the seed of a user alone (SU..., as nk -gen user writes it)'
const ADDRESS = 'expected nats://HOST:4222, nats://USER:PASSWORD@HOST:4222, nats://TOKEN@HOST:4222, or tls://'

export const fleetErrors = errorRows({
  badAddress: { code: 'BAD_OPTION', text: 'the address of a NATS server cannot be read', hint: ADDRESS },
  badPort: { code: 'BAD_OPTION', text: '{url}: port {port}, expected 1 to 65535', hint: ADDRESS },
  badSeed: { code: 'BAD_OPTION', text: '{where}: its seed is damaged, or not that of a user', hint: CREDENTIALS },
  noCredentials: { code: 'BAD_OPTION', text: '{where}: there are no credentials in it', hint: CREDENTIALS },
  singleServer: {
    code: 'NODE_MISBEHAVED',
    text: '{url} is a single server: it cannot keep {copies} copies',
    hint: 'leave `nats-replicas` out',
  },
  noJetStream: {
    code: 'NODE_MISBEHAVED',
    text: 'the NATS server {url} has no JetStream (nats-server -js)',
    hint: 'start it with JetStream, or name another server',
  },
  noDomain: {
    code: 'NODE_MISBEHAVED',
    text: 'no JetStream of the domain {domain} answers at {url}',
    hint: 'the domain must be that of this server, or of one connected to it',
  },
  refusedCredentials: {
    code: 'NODE_REFUSED',
    text: 'the NATS server at {where} refuses these credentials',
    hint: 'put USER:PASSWORD@ or a token in its address, or name a file with credentials or a seed with `nats-creds`',
  },
  onlyTls: {
    code: 'NODE_REFUSED',
    text: 'the NATS server at {where} accepts only TLS',
    hint: 'use a tls:// address, with `nats-ca: FILE` if its certificate is not of a public authority',
  },
  noCertificate: {
    code: 'NODE_REFUSED',
    text: 'the NATS server at {where} requires a client certificate',
    hint: 'set `nats-cert` and `nats-key`',
  },
  unreachable: {
    code: 'NODE_UNREACHABLE',
    text: 'no NATS server answers at {where}',
    hint: 'is it started, and does its port let this machine in?',
  },
})
