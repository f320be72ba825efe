/**
 * The compose file and the configurations of its services, checked by docker-compose, NATS and promtool if installed,
 * and by rules.
 */
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { connect as connectTls } from 'node:tls'
import { describe, expect, it, onTestFinished } from 'vitest'
import { describeWith, itWith, lackOf } from '../needs.ts'
import { startCluster } from './nats-cluster.ts'
import { filesIn, read, root, runTool, temporaryFolder, yamlDocuments } from './tools.ts'

const folder = join(root, 'deploy/compose')

interface Service {
  readonly image: string
  readonly profiles?: readonly string[]
  readonly ports?: readonly string[]
  readonly volumes?: readonly string[]
  readonly cap_drop: readonly string[]
  readonly security_opt: readonly string[]
  readonly read_only?: boolean
  readonly depends_on?: readonly string[]
  readonly environment?: Readonly<Record<string, string | null>>
  readonly healthcheck?: { readonly test: readonly string[] }
}

interface Compose {
  readonly name: string
  readonly services: Readonly<Record<string, Service>>
  readonly volumes: Readonly<Record<string, null>>
}

const [compose] = yamlDocuments(read('deploy/compose/compose.yaml')) as [Compose]
const services = Object.entries(compose.services)
const NATS = ['nats-1', 'nats-2', 'nats-3']

/** The addresses of all three servers, as newcut takes them. */
const natsUrls = (scheme: string, password: string) =>
  NATS.map((name) => `${scheme}://newcut:${password}@${name}:4222`).join(',')

/** The merged file, as docker-compose prints it; docker-compose reports errors to stderr. */
function effective(files: readonly string[], env: Record<string, string> = {}) {
  const copy = temporaryFolder()
  const names = files.map((file) => {
    // Debian has version 1, which rejects only the name of the project.
    writeFileSync(join(copy, file), read(`deploy/compose/${file}`).replace(/^name: .*\n/m, ''))
    return ['-f', join(copy, file)]
  })
  const args = [...names.flat(), '--project-directory', folder, 'config']
  return runTool('docker-compose', args, { env: { HOME: copy, ...env } })
}

describeWith(lackOf('docker-compose'), 'docker-compose', () => {
  it('Docker Compose accepts the file without settings, and then mines the development network of the profile', () => {
    const { status, stdout, stderr } = effective(['compose.yaml'])
    expect(stderr).toBe('')
    expect(status).toBe(0)
    const [{ services: found }] = yamlDocuments(stdout) as [Compose]
    expect(Object.keys(found).toSorted()).toEqual(Object.keys(compose.services).toSorted())
    expect(found.leader.environment?.NEWCUT_NODE).toBe('http://devnet:1848')
    for (const name of NATS) expect(found[name].environment?.NATS_PASSWORD).toMatch(/^"[\w-]+"$/)
    expect(found.leader.environment?.NEWCUT_NATS).toBe(natsUrls('nats', 'of-this-network-only'))
    expect(found.stratum.environment?.NEWCUT_NODE).toBe('http://devnet:1848')
    expect(found.stratum.ports).toEqual(['127.0.0.1:1917:1917/tcp'])
    expect(found.relay.ports).toEqual(['127.0.0.1:1918:1917/tcp'])
    for (const each of [found.leader, found.standby, found.rig, found.relay]) {
      expect(Object.keys(each.depends_on ?? {}).toSorted()).toEqual(NATS)
    }
  })

  it('Docker Compose passes settings to the right services', () => {
    const env = { NEWCUT_NODE: 'http://a:1848', NEWCUT_PUBLIC_KEY: 'f'.repeat(64), NATS_PASSWORD: '12e4' }
    const { status, stdout } = effective(['compose.yaml'], { ...env, NEWCUT_THREADS: '3' })
    expect(status).toBe(0)
    const [{ services: found }] = yamlDocuments(stdout) as [Compose]
    for (const leader of [found.leader, found.standby]) {
      expect(leader.environment).toMatchObject({
        NEWCUT_NODE: 'http://a:1848',
        NEWCUT_PUBLIC_KEY: 'f'.repeat(64),
        NEWCUT_NATS: natsUrls('nats', '12e4'),
        NEWCUT_NATS_REPLICAS: '3',
      })
      expect(leader.environment).not.toHaveProperty('NEWCUT_THREADS')
    }
    expect(found.rig.environment).toMatchObject({
      NEWCUT_FLEET: natsUrls('nats', '12e4'),
      NEWCUT_THREADS: '3',
    })
    expect(found.rig.environment).not.toHaveProperty('NEWCUT_NODE')
    expect(found.relay.environment).toMatchObject({
      NEWCUT_FLEET: natsUrls('nats', '12e4'),
      NEWCUT_RIG: 'relay',
      NEWCUT_STRATUM_LISTEN: '0.0.0.0:1917',
      NEWCUT_THREADS: '0',
    })
    for (const name of ['NEWCUT_NODE', 'NEWCUT_PUBLIC_KEY']) expect(found.relay.environment).not.toHaveProperty(name)
    const routes = NATS.map((name, i) => [`ROUTE_${i + 1}`, `"nats://newcut:12e4@${name}:6222"`])
    for (const name of NATS) {
      expect(found[name].environment).toEqual({
        ...Object.fromEntries(routes),
        NATS_PASSWORD: '"12e4"',
        SERVER_NAME: name,
      })
    }
    expect(found.stratum.environment).toMatchObject({
      NEWCUT_NODE: 'http://a:1848',
      NEWCUT_PUBLIC_KEY: 'f'.repeat(64),
      NEWCUT_THREADS: '0',
    })
    const open = effective(['compose.yaml'], { STRATUM_ADDRESS: '192.0.2.7' })
    const [{ services: reachable }] = yamlDocuments(open.stdout) as [Compose]
    expect([reachable.stratum, reachable.relay].map(({ ports }) => ports)).toEqual([
      ['192.0.2.7:1917:1917/tcp'],
      ['192.0.2.7:1918:1917/tcp'],
    ])
  })

  it('Docker Compose publishes NATS for remote rigs with TLS, but not without a password and an address', () => {
    const files = ['compose.yaml', 'compose.remote.yaml']
    for (const lack of [{ NATS_PASSWORD: 'secret' }, { NATS_ADDRESS: '192.0.2.7' }]) {
      expect(effective(files, lack)).toMatchObject({ status: 1, stderr: expect.stringContaining('say it in .env') })
    }
    const { status, stdout, stderr } = effective(files, { NATS_PASSWORD: 'secret', NATS_ADDRESS: '192.0.2.7' })
    expect(stderr).toBe('')
    expect(status).toBe(0)
    const [{ services: found }] = yamlDocuments(stdout) as [Compose]
    for (const [i, name] of NATS.entries()) {
      expect(found[name].ports).toEqual([`192.0.2.7:${4222 + i}:4222/tcp`])
      const configurations = found[name].volumes?.filter((volume) => volume.includes(':/etc/nats/fleet.conf'))
      expect(configurations).toEqual([`${folder}/nats/fleet-tls.conf:/etc/nats/fleet.conf:ro`])
      expect(found[name].environment).toMatchObject({
        NATS_PASSWORD: '"secret"',
        SERVER_NAME: name,
        ROUTE_1: '"nats://newcut:secret@nats-1:6222"',
      })
      expect(found[name].volumes).toContainEqual(expect.stringMatching(new RegExp(`^${name}:/data`)))
    }
    const urls = [found.leader, found.standby].map(({ environment }) => environment?.NEWCUT_NATS)
    const fleets = [found.rig, found.relay].map(({ environment }) => environment?.NEWCUT_FLEET)
    expect([...urls, ...fleets]).toEqual(Array(4).fill(natsUrls('tls', 'secret')))
    expect(found.relay.volumes).toContainEqual(expect.stringMatching(/^relay:\/var\/lib\/newcut/))
    for (const { volumes, environment } of [found.leader, found.standby, found.rig, found.relay]) {
      expect(volumes).toContain(`${folder}/tls/ca.pem:${environment?.NEWCUT_NATS_CA}:ro`)
    }
    expect(found.leader.volumes).toContainEqual(expect.stringMatching(/^leader:\/var\/lib\/newcut/))
  })
})

describe('compose.yaml', () => {
  it('compose.yaml opens ports on the loopback only, and none of NATS', () => {
    const published = services.flatMap(([, { ports }]) => ports ?? [])
    expect(published.length).toBeGreaterThan(3)
    const isInside = (port: string) => /^(127\.0\.0\.1|\$\{STRATUM_ADDRESS:-127\.0\.0\.1\}):\d+:\d+$/.test(port)
    expect(published.filter((port) => !isInside(port))).toEqual([])
    expect(new Set(published.map((port) => port.split(':').at(-2))).size).toBe(published.length)
    for (const name of NATS) expect(compose.services[name].ports).toBeUndefined()
  })

  it('compose.yaml uses images of exact versions, and drops all capabilities', () => {
    for (const [name, { image, cap_drop, security_opt, read_only }] of services) {
      expect(image, name).toMatch(/^(docker\.io\/[\w/]+:v?\d+\.\d+\.\d+(-alpine)?|\$\{IMAGE:-newcut:local\})$/)
      expect(cap_drop, name).toEqual(['ALL'])
      expect(security_opt, name).toEqual(['no-new-privileges:true'])
      if (!['prometheus', 'grafana'].includes(name)) expect(read_only, name).toBe(true)
    }
  })

  it('every service mounts existing files, and named volumes of its own', () => {
    const mounts = services.flatMap(([, { volumes }]) => volumes ?? []).map((volume) => volume.split(':')[0])
    const files = mounts.filter((mount) => mount.startsWith('.'))
    expect(files.length).toBeGreaterThan(5)
    expect(files.filter((file) => !existsSync(join(folder, file)))).toEqual([])
    expect(mounts.filter((mount) => !mount.startsWith('.'))).toEqual(Object.keys(compose.volumes))
    // Prometheus and its alerts, Grafana and its dashboard.
    expect(files).toEqual(expect.arrayContaining(['../../grafana/alerts.yml', '../../grafana/dashboard.json']))
  })

  it('.env.example documents every setting, and no other', () => {
    const used = new Set<string>()
    for (const file of ['compose.yaml', 'compose.remote.yaml']) {
      for (const [, name] of read(`deploy/compose/${file}`).matchAll(/\$\{(\w+)/g)) used.add(name)
    }
    const passed = services.flatMap(([, { environment }]) => Object.entries(environment ?? {}))
    for (const [name, value] of passed) if (value === null) used.add(name)
    const told = [...read('deploy/compose/.env.example').matchAll(/^#?([A-Z_]+)=/gm)].map(([, name]) => name)
    expect(told.toSorted()).toEqual([...used].toSorted())
  })

  it('Prometheus scrapes all newcut services that search or lead, and Grafana queries Prometheus', () => {
    const [{ scrape_configs: jobs }] = yamlDocuments(read('deploy/compose/prometheus/prometheus.yml')) as [
      { scrape_configs: { job_name: string; dns_sd_configs: { names: string[]; port: number }[] }[] },
    ]
    const ours = services.filter(([, each]) => each.environment?.NEWCUT_HTTP !== undefined)
    expect(jobs.map(({ job_name }) => job_name)).toEqual(['newcut'])
    expect(jobs[0].dns_sd_configs[0].names).toEqual(ours.map(([name]) => name))
    for (const [, { environment }] of ours) {
      expect(environment?.NEWCUT_HTTP).toBe(`0.0.0.0:${jobs[0].dns_sd_configs[0].port}`)
    }
    const [{ datasources }] = yamlDocuments(read('deploy/compose/grafana/datasource.yml')) as [
      { datasources: { type: string; url: string }[] },
    ]
    expect(datasources).toMatchObject([{ type: 'prometheus', url: 'http://prometheus:9090' }])
    const [{ providers }] = yamlDocuments(read('deploy/compose/grafana/dashboards.yml')) as [
      { providers: { options: { path: string } }[] },
    ]
    const mounted = compose.services.grafana.volumes?.find((volume) =>
      volume.startsWith('../../grafana/dashboard.json'),
    )
    expect(mounted?.split(':')[1]).toBe(join(providers[0].options.path, 'dashboard.json'))
  })

  itWith(lackOf('promtool'), 'promtool accepts the configuration of Prometheus', () => {
    const copy = temporaryFolder()
    copyFileSync(join(folder, 'prometheus/prometheus.yml'), join(copy, 'prometheus.yml'))
    copyFileSync(join(root, 'grafana/alerts.yml'), join(copy, 'alerts.yml'))
    const { status, stderr } = runTool('promtool', ['check', 'config', join(copy, 'prometheus.yml')])
    expect(stderr).toBe('')
    expect(status).toBe(0)
  })
})

itWith(lackOf('yamllint'), 'yamllint accepts all files', () => {
  const files = filesIn('deploy').filter((path) => /\.ya?ml$/.test(path))
  expect(files.length).toBeGreaterThan(5)
  const rules = 'line-length: {max: 120}, document-start: disable, comments: {min-spaces-from-content: 1}'
  const { status, stdout } = runTool('yamllint', ['--strict', '-d', `{extends: default, rules: {${rules}}}`, ...files])
  expect(stdout).toBe('')
  expect(status).toBe(0)
})

describeWith(lackOf('nats-server'), 'NATS', () => {
  /** Starts all three servers with one of our files and the environments of the compose file. */
  function startNats(file: string, password: string, tls = '') {
    const servers = NATS.map((name) => {
      const environment = Object.entries(compose.services[name].environment ?? {})
      const told = environment.map(([key, value]) => [key, value?.replaceAll(/\$\{NATS_PASSWORD:-[^}]*\}/g, password)])
      return [name, Object.fromEntries(told)] as const
    })
    const change = (text: string) => text.replaceAll('/etc/nats/tls', tls)
    return startCluster({ text: read(`deploy/compose/nats/${file}`), servers: new Map(servers), change })
  }

  const login = (password: string) =>
    `CONNECT {"verbose":false,"pedantic":false,"tls_required":false,"user":"newcut","pass":"${password}"}\r\nPING\r\n`

  /** The server's answer to a login with this password. */
  function answerTo(port: number, password: string, ca?: string, servername = ''): Promise<string> {
    return new Promise((resolve, reject) => {
      const plain = connect(port, '127.0.0.1')
      onTestFinished(() => void plain.destroy())
      plain.on('error', reject)
      const talk = (socket: typeof plain) => {
        let said = ''
        socket.on('error', reject)
        socket.on('close', () => reject(new Error(`closed after ${said}`)))
        socket.on('data', (bytes) => {
          said += bytes
          const [, answer] = /^(PONG|-ERR .*)\r$/m.exec(said) ?? []
          if (answer !== undefined) resolve(answer)
        })
        socket.write(login(password))
      }
      // NATS sends its first line in plain text; TLS begins after it.
      plain.once('data', () => {
        if (ca === undefined) return talk(plain)
        const secure = connectTls({ socket: plain, ca, servername }, () => talk(secure))
        secure.on('error', reject)
      })
    })
  }

  const passwords = ['12e4', '007', 'x'.repeat(48)]
  it.for(passwords)(
    'the NATS server accepts only the password %s, taken literally, and has JetStream',
    async (password) => {
      const { servers } = await startNats('fleet.conf', password)
      for (const { port, get } of servers.values()) {
        expect(await answerTo(port, password)).toBe('PONG')
        expect(await answerTo(port, 'another')).toBe("-ERR 'Authorization Violation'")
        const { config } = (await (await get('/jsz')).json()) as { config: { max_storage: number } }
        expect(config.max_storage).toBe(1024 ** 3)
        // Routes to both other servers.
        const { num_routes } = (await (await get('/routez')).json()) as { num_routes: number }
        expect(num_routes).toBeGreaterThanOrEqual(2)
      }
    },
  )

  it('the NATS server speaks only TLS, with a certificate for its names in the containers', async () => {
    const tls = temporaryFolder()
    mkdirSync(tls, { recursive: true })
    const names = NATS.map((name) => `DNS:${name}`).join(',')
    const subject = ['-subj', '/CN=nats', '-addext', `subjectAltName=${names}`]
    const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-keyout', 'key.pem', '-days', '2']
    const made = runTool('openssl', ['req', '-x509', ...key, '-out', 'cert.pem', ...subject], { cwd: tls })
    expect(made.status).toBe(0)
    const { servers } = await startNats('fleet-tls.conf', 'secret', tls)
    const ca = readFileSync(join(tls, 'cert.pem'), 'utf8')
    for (const [name, { port }] of servers) {
      expect(await answerTo(port, 'secret', ca, name)).toBe('PONG')
      expect(await answerTo(port, 'wrong', ca, name)).toBe("-ERR 'Authorization Violation'")
      await expect(answerTo(port, 'secret')).rejects.toThrow(/^closed after /)
    }
  })
})
