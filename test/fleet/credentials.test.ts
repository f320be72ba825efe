/** How clients authenticate to a real NATS server: nkeys, signed tokens, plain tokens and certificates. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { nkeys } from '@nats-io/transport-node'
import { describe, expect, it, onTestFinished } from 'vitest'
import { systemClock } from '../../src/ground/platform/clock.ts'
import { readNatsAddress } from '../../src/mining/fleet/address.ts'
import { readCredentials } from '../../src/mining/fleet/credentials.ts'
import { FleetLink, type NatsTrust } from '../../src/mining/fleet/link.ts'
import { run } from '../cli/run.ts'
import { describeWith, lackOf } from '../needs.ts'
import { NatsServer } from './nats.ts'

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'newcut-creds-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return folder
}

type Pair = ReturnType<typeof nkeys.createUser>
const seedOf = (pair: Pair) => new TextDecoder().decode(pair.getSeed())

/** A signed token (JWT) as the tools of NATS make it. */
function token(issuer: Pair, subject: Pair, name: string, claims: object): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const about = { iat: Math.floor(Date.now() / 1000), iss: issuer.getPublicKey(), sub: subject.getPublicKey() }
  const signed = `${part({ typ: 'JWT', alg: 'ed25519-nkey' })}.${part({ jti: name, ...about, name, nats: claims })}`
  return `${signed}.${Buffer.from(issuer.sign(new TextEncoder().encode(signed))).toString('base64url')}`
}

/** The text of a credentials file as nsc writes it. */
const credentialsOf = (jwt: string, seed: string) => `-----BEGIN NATS USER JWT-----
${jwt}
------END NATS USER JWT------

************************* IMPORTANT *************************
NKEY Seed printed below can be used to sign and prove identity.

-----BEGIN USER NKEY SEED-----
${seed}
------END USER NKEY SEED------

*************************************************************
`

/** An operator, an account with JetStream and a user of it: the server's configuration and the user's credentials. */
function operated() {
  const [operator, account, user] = [nkeys.createOperator(), nkeys.createAccount(), nkeys.createUser()]
  // JetStream requires a system account.
  const system = nkeys.createAccount()
  const none = -1
  const storage = { mem_storage: none, disk_storage: none, streams: none, consumer: none }
  const limits = { subs: none, data: none, payload: none, imports: none, exports: none, conn: none, leaf: none }
  const ofAccount = token(operator, account, 'fleet', {
    limits: { ...limits, wildcards: true, ...storage },
    type: 'account',
    version: 2,
  })
  const ofUser = token(account, user, 'rig', { subs: none, data: none, payload: none, type: 'user', version: 2 })
  const ofOperator = token(operator, operator, 'operator', { type: 'operator', version: 2 })
  const ofSystem = token(operator, system, 'system', { limits, type: 'account', version: 2 })
  const accounts = [`${account.getPublicKey()}: "${ofAccount}"`, `${system.getPublicKey()}: "${ofSystem}"`]
  const preload = `resolver: MEMORY\nresolver_preload: {\n${accounts.join('\n')}\n}`
  const config = `operator: "${ofOperator}"\nsystem_account: ${system.getPublicKey()}\n${preload}`
  return { config, file: credentialsOf(ofUser, seedOf(user)) }
}

async function server(config: string, scheme = 'nats'): Promise<NatsServer> {
  const nats = await NatsServer.start(newFolder(), config, scheme)
  onTestFinished(() => nats.kill())
  return nats
}

/** Connects, and checks that JetStream answers. */
async function use(url: string, trust: NatsTrust): Promise<void> {
  const options = { addresses: [readNatsAddress(url)], trust, fleet: 'main', agent: 'test' }
  const shared = { clock: systemClock, random: Math.random }
  const link = await FleetLink.open({ ...options, ...shared }, null, new AbortController().signal)
  await link.checkJetStream(1).finally(() => link.close())
}

describeWith(lackOf('nats-server'), 'a NATS server', () => {
  it('the NATS server accepts credentials of its account, and no others', async () => {
    const { config, file } = operated()
    const { url } = await server(config)
    await use(url, { authenticator: readCredentials(file, 'file') })
    // The file as an editor on Windows may have saved it.
    await use(url, { authenticator: readCredentials(file.replaceAll('\n', '\r\n'), 'file') })
    const other = readCredentials(operated().file, 'file')
    await expect(use(url, { authenticator: other })).rejects.toThrow(/refuses these credentials/)
    await expect(use(url, {})).rejects.toThrow(/refuses these credentials/)
  })

  it('the NATS server accepts the seed of a user whose public key it knows, from the file of --nats-creds', async () => {
    const [known, stranger] = [nkeys.createUser(), nkeys.createUser()]
    const { url } = await server(`authorization { users: [{ nkey: ${known.getPublicKey()} }] }`)
    const file = join(newFolder(), 'rig.nk')
    writeFileSync(file, `${seedOf(known)}\n${known.getPublicKey()}\n`)
    // The command gets as far as looking for a leader.
    const { err } = await run(['fleet', '--nats', url, '--nats-creds', file])
    expect(err).toMatch(/no leader of the fleet main answers/)
    await use(url, { authenticator: readCredentials(seedOf(known), 'file') })
    const refused = use(url, { authenticator: readCredentials(seedOf(stranger), 'file') })
    await expect(refused).rejects.toThrow(/refuses these credentials/)
  })

  it('the NATS server accepts a token in its address, which is never shown', async () => {
    const { url } = await server('authorization { token: "s3cret" }')
    await use(url.replace('//', '//s3cret@'), {})
    const { err, code } = await run(['fleet', '--nats', url.replace('//', '//wr0ng@')])
    expect(err).toMatch(/refuses these credentials/)
    expect(code).toBe(21)
    expect(err).not.toMatch(/wr0ng/)
  })

  it('the NATS server accepts a client certificate of its authority, and an error says if it requires one', async () => {
    const folder = newFolder()
    const certificates = certificatesIn(folder)
    const files = `cert_file: "${join(folder, 'server.pem')}", key_file: "${join(folder, 'server.key')}"`
    const config = `tls { ${files}, ca_file: "${join(folder, 'ca.pem')}", verify: true }`
    const { url } = await server(config, 'tls')
    const { ca, cert, key } = certificates
    await use(url, { ca, cert, key })
    const wanted = use(url, { ca })
    await expect(wanted).rejects.toMatchObject({
      code: 'NODE_REFUSED',
      message: expect.stringMatching(/^the NATS server at tls:.* requires a client certificate$/),
      hint: expect.stringMatching(/`nats-cert` and `nats-key`/),
    })
    // A rig that would otherwise wait for a server exits: waiting does not help.
    const rig = await run([
      'mine',
      '--fleet',
      url,
      '--nats-ca',
      join(folder, 'ca.pem'),
      '--threads',
      '1',
      '--gpu',
      'none',
    ])
    expect(rig.err).toMatch(/requires a client certificate/)
    expect(rig.code).toBe(21)
  })
})

/** A server certificate for 127.0.0.1 and a client certificate, both from one authority. */
function certificatesIn(folder: string) {
  const openssl = (...args: string[]) => execFileSync('openssl', args, { cwd: folder, stdio: 'ignore' })
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes']
  openssl('req', '-x509', ...key, '-keyout', 'ca.key', '-out', 'ca.pem', '-days', '2', '-subj', '/CN=authority')
  for (const name of ['server', 'client']) {
    openssl('req', ...key, '-keyout', `${name}.key`, '-out', `${name}.csr`, '-subj', `/CN=${name}`)
    writeFileSync(join(folder, `${name}.ext`), 'subjectAltName=IP:127.0.0.1\n')
    const signed = ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial', '-days', '2', '-extfile', `${name}.ext`]
    openssl('x509', '-req', '-in', `${name}.csr`, '-out', `${name}.pem`, ...signed)
  }
  const text = (name: string) => readFileSync(join(folder, name), 'utf8')
  return { ca: text('ca.pem'), cert: text('client.pem'), key: text('client.key') }
}

describe('a file of credentials', () => {
  const user = nkeys.createUser()
  const seed = seedOf(user)
  const damaged = `${seed.slice(0, 20)}${seed[20] === 'A' ? 'B' : 'A'}${seed.slice(21)}`
  it.each([
    ['empty', '', /there are no credentials in it/],
    ['without a seed', credentialsOf('a.b.c', '').replace(/-+BEGIN USER[\s\S]*/, ''), /there are no credentials in it/],
    ['with a damaged seed', credentialsOf('a.b.c', damaged), /its seed is damaged/],
    ['with the seed of an account', seedOf(nkeys.createAccount()), /there are no credentials in it/],
    ['with a seed that is cut off', seed.slice(0, -3), /its seed is damaged/],
    ['with other text', 'user: miner', /there are no credentials in it/],
  ])('a file of credentials (%s) is refused at the start, and not repeated', async (_what, text, why) => {
    const file = join(newFolder(), 'rig.creds')
    writeFileSync(file, text)
    // There is no server at all, and no command waits for one.
    for (const command of [
      ['fleet', '--nats'],
      ['mine', '--fleet'],
      ['lead', '--nats'],
    ]) {
      const { code, err } = await run([...command, 'nats://127.0.0.1:1', '--nats-creds', file])
      expect(err).toMatch(why)
      expect(code).toBe(2)
      expect(err).toMatch(
        /--nats-creds \S+rig\.creds: .*expected a file of credentials .* or the seed of a user alone/s,
      )
      expect(err).not.toContain(seed.slice(0, 12))
    }
  })

  it('a file of credentials that cannot be read is refused at the start', async () => {
    const folder = newFolder()
    const { code, err } = await run(['mine', '--fleet', 'nats://127.0.0.1:1', '--nats-creds', folder])
    expect(err).toMatch(/--nats-creds \S+: it is a folder \(EISDIR\)/)
    expect(code).toBe(2)
  })
})
