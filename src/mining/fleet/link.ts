/** NATS connection of a leader, a rig or a command. */
import { connect as connectTcp, isIP } from 'node:net'
import { type ConnectionOptions, checkServerIdentity, type PeerCertificate } from 'node:tls'
import { type JetStreamClient, jetstream } from '@nats-io/jetstream'
import {
  type Authenticator,
  AuthorizationError,
  connect,
  type Msg,
  type NatsConnection,
  type NodeConnectionOptions,
} from '@nats-io/transport-node'
import { backoffMs } from '#ground/base/backoff.ts'
import { type Clock, sleep } from '#ground/base/clock.ts'
import { describeError, type NewcutError, operatingError } from '#ground/base/errors.ts'
import type { Static, TSchema } from '#ground/schema/typebox.ts'
import type { NatsAddress } from './address.ts'
import { fleetErrors } from './errors.ts'
import { decodeMessage, encodeMessage, type Subjects, subjectsOf } from './messages.ts'

/** Authentication of both ends, beyond the address. Certificates and keys are in PEM format. */
export interface NatsTrust {
  /** From a credential file (credentials.ts). */
  readonly authenticator?: Authenticator | undefined
  /** The only authorities that may sign the server's certificate. */
  readonly ca?: string | undefined
  /** The client's own certificate; `key` is its private key. */
  readonly cert?: string | undefined
  readonly key?: string | undefined
}

export interface LinkSetup {
  /** Servers of one NATS system; the client uses any of them. */
  readonly addresses: readonly NatsAddress[]
  readonly trust: NatsTrust
  /** Name of the fleet. */
  readonly fleet: string
  /** JetStream domain that stores the fleet's data; undefined for the server's own. */
  readonly domain?: string | undefined
}

export interface LinkOptions extends LinkSetup {
  /** Client name that the server shows. */
  readonly agent: string
  readonly clock: Clock
  readonly random: () => number
}

const CONNECT_MS = 3_000
const FIRST_PAUSE_MS = 100
/** Maximum backoff: a lease of ten seconds must survive a restart of the NATS server. */
const MAX_PAUSE_MS = 1_000
/** Ping interval. The client drops a server after two unanswered pings: a halted process keeps its connections. */
const PING_MS = 2_000
const JETSTREAM_MS = 1_000

/** Called with the reason when the connection is lost, and with null when it is restored. */
type LinkListener = (problem: string | null) => void

export class FleetLink {
  /** Name of the fleet. */
  readonly fleet: string
  readonly subjects: Subjects
  readonly connection: NatsConnection
  readonly jetstream: JetStreamClient
  readonly #addresses: readonly NatsAddress[]
  readonly #domain: string | undefined
  readonly #listeners = new Set<LinkListener>()
  #problem: string | null = null

  private constructor(connection: NatsConnection, { addresses, fleet, domain }: LinkSetup) {
    this.connection = connection
    this.jetstream = jetstream(connection, { timeout: JETSTREAM_MS, ...(domain !== undefined && { domain }) })
    this.#domain = domain
    this.fleet = fleet
    this.subjects = subjectsOf(fleet)
    this.#addresses = addresses
    void this.#watch()
  }

  /**
   * Connects, and retries until a server answers.
   * @param onWaiting called once with the reason of the first retry; null to fail instead of retrying
   * @throws NewcutError NODE_REFUSED if a server rejects the credentials or requires some
   * @throws NewcutError NODE_UNREACHABLE if `onWaiting` is null and no server answers
   * @throws the signal's reason when it aborts
   */
  static async open(
    options: LinkOptions,
    onWaiting: ((message: string) => void) | null,
    signal: AbortSignal,
  ): Promise<FleetLink> {
    const { clock, random } = options
    const settings = settingsOf(options)
    for (let attempt = 0; ; attempt++) {
      signal.throwIfAborted()
      try {
        const connection = await connect(settings)
        if (!signal.aborted) return new FleetLink(connection, options)
        await connection.close()
      } catch (error) {
        signal.throwIfAborted()
        const failure = (await certificateError(options)) ?? connectionError(error, options)
        if (onWaiting === null || failure.code !== 'NODE_UNREACHABLE') throw failure
        if (attempt === 0) onWaiting(`waiting for the NATS server: ${describeError(failure)}`)
      }
      await sleep(
        clock,
        backoffMs({ firstMs: FIRST_PAUSE_MS, maxMs: MAX_PAUSE_MS, jitter: 0.5 }, attempt, random),
        signal,
      )
    }
  }

  /**
   * Checks that the server can store this number of copies of solutions.
   * @throws NewcutError NODE_MISBEHAVED if it cannot, or an error of the NATS client
   */
  async checkJetStream(copies: number): Promise<void> {
    await this.callJetStream(() => this.jetstream.jetstreamManager(true))
    // In a named domain, other servers may hold the copies; this connection cannot see them.
    if (copies < 2 || this.#domain !== undefined || this.connection.info?.cluster !== undefined) return
    throw operatingError(fleetErrors.singleServer, { url: this.url, copies })
  }

  /**
   * Calls JetStream.
   * @throws NewcutError NODE_MISBEHAVED if there is no JetStream, or an error of the NATS client
   */
  async callJetStream<T>(call: () => Promise<T>): Promise<T> {
    try {
      return await call()
    } catch (error) {
      if (!(error instanceof Error && error.name === 'JetStreamNotEnabled')) throw error
      if (this.#domain === undefined) throw operatingError(fleetErrors.noJetStream, { url: this.url }, error)
      throw operatingError(fleetErrors.noDomain, { domain: this.#domain, url: this.url }, error)
    }
  }

  /** Current or last server, without credentials. */
  get url(): string {
    const server = this.connection.getServer()
    const tls = this.#addresses.some((address) => address.tls)
    return server === '' ? this.#addresses[0].url : `${tls ? 'tls' : 'nats'}://${server}`
  }

  get isUp(): boolean {
    return this.#problem === null && !this.connection.isClosed()
  }

  /** @returns a function that removes the listener */
  listen(listener: LinkListener): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Publishes a message. While disconnected, the client buffers it and sends it after reconnecting. */
  publish(subject: string, message: unknown): void {
    if (!this.connection.isClosed()) this.connection.publish(subject, encodeMessage(message))
  }

  /**
   * Sends a request to the subject's responder.
   * @throws an error of the NATS client, or FormatError if the answer is malformed
   */
  async request<T extends TSchema>(
    subject: string,
    question: unknown,
    answer: T,
    timeoutMs: number,
  ): Promise<Static<T>> {
    const { data } = await this.connection.request(subject, encodeMessage(question), { timeout: timeoutMs })
    return decodeMessage(answer, data, subject)
  }

  /**
   * Subscribes to a subject.
   * @param onWrong called for malformed messages and errors of the subscription
   * @returns a function that unsubscribes
   */
  subscribe<T extends TSchema>(
    subject: string,
    schema: T,
    handle: (message: Static<T>, raw: Msg) => void,
    onWrong: (error: unknown) => void,
  ): () => void {
    const subscription = this.connection.subscribe(subject, {
      callback: (error, raw) => {
        if (error !== null) return onWrong(error)
        let message: Static<T>
        try {
          message = decodeMessage(schema, raw.data, subject)
        } catch (wrong) {
          return onWrong(wrong)
        }
        handle(message, raw)
      },
    })
    return () => {
      if (!subscription.isClosed()) subscription.unsubscribe()
    }
  }

  async close(): Promise<void> {
    this.#listeners.clear()
    if (this.connection.isClosed()) return
    // Give the last messages 200 ms to get out.
    const flushed = this.connection.flush().catch(() => undefined)
    await Promise.race([flushed, new Promise((resolve) => setTimeout(resolve, 200))])
    await this.connection.close()
  }

  async #watch(): Promise<void> {
    for await (const status of this.connection.status()) {
      if (status.type === 'disconnect') this.#reportStatus(`the NATS server at ${this.url} is gone`)
      if (status.type === 'reconnect') this.#reportStatus(null)
    }
  }

  #reportStatus(problem: string | null): void {
    if (problem === this.#problem) return
    this.#problem = problem
    for (const listener of this.#listeners) listener(problem)
  }
}

function settingsOf({ addresses, trust, agent, fleet }: LinkOptions): NodeConnectionOptions {
  const { authenticator, ca, cert, key } = trust
  const named = addresses.find(({ user }) => user !== null)
  const { user = null, password = null } = named ?? {}
  const tls = addresses.some((address) => address.tls) || ca !== undefined || cert !== undefined
  return {
    servers: addresses.map(({ host, port }) => `${host}:${port}`),
    name: `${agent} ${fleet}`,
    ...(user !== null && password === null && { token: user }),
    ...(user !== null && password !== null && { user, pass: password }),
    ...(authenticator !== undefined && { authenticator }),
    tls: tls ? tlsOf(addresses, { ...(ca && { ca }), ...(cert && { cert }), ...(key && { key }) }) : null,
    timeout: CONNECT_MS,
    pingInterval: PING_MS,
    maxPingOut: 2,
    maxReconnectAttempts: -1,
    ignoreAuthErrorAbort: true,
    // Otherwise each request captures a stack trace in case it fails, a seventh of the cost of a rig's report.
    noAsyncTraces: true,
    reconnectTimeWait: 200,
    reconnectJitter: 300,
    reconnectJitterTLS: 300,
  }
}

type NodeTlsOptions = NonNullable<NodeConnectionOptions['tls']>

/**
 * TLS options. For a server given by IP address, the NATS client passes no host name to TLS, and Node checks for
 * `localhost`. This check accepts a certificate for any IP address that the user gave.
 */
function tlsOf(addresses: readonly NatsAddress[], files: NodeTlsOptions): NodeTlsOptions {
  const hosts = addresses.map(({ host }) => host.replace(/^\[|\]$/g, '')).filter((host) => isIP(host) !== 0)
  const check = (name: string, certificate: PeerCertificate) => {
    if (name !== 'localhost' || hosts.length === 0) return checkServerIdentity(name, certificate)
    const problems = hosts.map((host) => checkServerIdentity(host, certificate))
    return problems.includes(undefined) ? undefined : problems[0]
  }
  const options: NodeTlsOptions & Pick<ConnectionOptions, 'checkServerIdentity'> = {
    ...files,
    checkServerIdentity: check,
  }
  return options
}

function connectionError(error: unknown, { addresses }: LinkSetup): NewcutError {
  const where = addresses.map(({ url }) => url).join(', ')
  if (error instanceof AuthorizationError || (error as { name?: unknown }).name === 'AuthorizationError') {
    return operatingError(fleetErrors.refusedCredentials, { where }, error)
  }
  // The NATS client fails on TLS options that it did not get.
  if (describeError(error).includes('certFile') && !addresses.some(({ tls }) => tls)) {
    return operatingError(fleetErrors.onlyTls, { where }, error)
  }
  return operatingError(fleetErrors.unreachable, { where }, error)
}

const INFO_MS = 1_000
/** Maximum length of the greeting: another server may send without end. */
const MAX_INFO_CHARACTERS = 65_536

/**
 * Explains a failed TLS connection to a server that requires a client certificate; the client itself reports only a
 * timeout. The server's plaintext greeting states the requirement.
 * @returns null if there is no such server
 */
async function certificateError({ addresses, trust }: LinkSetup): Promise<NewcutError | null> {
  if (trust.cert !== undefined) return null
  const urls = await Promise.all(addresses.filter(({ tls }) => tls).map(requiresCertificate))
  const where = urls.find((url) => url !== null)
  if (where === undefined) return null
  return operatingError(fleetErrors.noCertificate, { where })
}

/** @returns the address of a server that requires a client certificate; null if it does not, or does not answer */
function requiresCertificate({ host, port, url }: NatsAddress): Promise<string | null> {
  return new Promise((resolve) => {
    let received = ''
    const socket = connectTcp(port, host.replace(/^\[|\]$/g, ''))
    const end = (isWanted: boolean) => {
      socket.destroy()
      resolve(isWanted ? url : null)
    }
    socket.setTimeout(INFO_MS, () => end(false))
    socket.on('error', () => end(false))
    socket.on('end', () => end(false))
    socket.setEncoding('latin1').on('data', (text) => {
      received += text
      if (received.includes('\n') || received.length > MAX_INFO_CHARACTERS)
        end(/^INFO .*"tls_verify":\s*true/.test(received))
    })
  })
}
