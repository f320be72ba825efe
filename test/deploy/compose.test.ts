/** The compose file and what its services read: by docker-compose, NATS and promtool where they are, and by rule. */
import { type ChildProcess, spawn } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { connect as connectTls } from 'node:tls'
import { describe, expect, it, onTestFinished } from 'vitest'
import { describeWith, itWith, lackOf, PROGRAM_PATH } from '../needs.ts'
import { freePort } from '../ports.ts'
import { until } from '../wait.ts'
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

/** The effective file, as docker-compose prints it; it says what is wrong on standard error. */
function effective(files: readonly string[], env: Record<string, string> = {}) {
  const copy = temporaryFolder()
  const names = files.map((file) => {
    // Version 1, which Debian has, knows all of it but the name of the project.
    writeFileSync(join(copy, file), read(`deploy/compose/${file}`).replace(/^name: .*\n/m, ''))
    return ['-f', join(copy, file)]
  })
  const args = [...names.flat(), '--project-directory', folder, 'config']
  return runTool('docker-compose', args, { env: { HOME: copy, ...env } })
}

describeWith(lackOf('docker-compose'), 'docker-compose', () => {
  it('accepts the file without any settings, and then mines the development network of the profile', () => {
    const { status, stdout, stderr } = effective(['compose.yaml'])
    expect([status, stderr]).toEqual([0, ''])
    const [{ services: found }] = yamlDocuments(stdout) as [Compose]
    expect(Object.keys(found).toSorted()).toEqual(Object.keys(compose.services).toSorted())
    expect(found.leader.environment?.NEWCUT_NODE).toBe('http://devnet:1848')
    expect(found.nats.environment?.NATS_PASSWORD).toMatch(/^"[\w-]+"$/)
    expect(found.leader.environment?.NEWCUT_NATS).toMatch(/^nats:\/\/newcut:[\w-]+@nats:4222$/)
    expect(found.leader.depends_on).toMatchObject({ nats: {} })
  })

  it('gives settings to the services that they are for', () => {
    const env = { NEWCUT_NODE: 'http://a:1848', NEWCUT_PUBLIC_KEY: 'f'.repeat(64), NATS_PASSWORD: '12e4' }
    const { status, stdout } = effective(['compose.yaml'], { ...env, NEWCUT_THREADS: '3' })
    expect(status).toBe(0)
    const [{ services: found }] = yamlDocuments(stdout) as [Compose]
    for (const leader of [found.leader, found.standby]) {
      expect(leader.environment).toMatchObject({
        NEWCUT_NODE: 'http://a:1848',
        NEWCUT_PUBLIC_KEY: 'f'.repeat(64),
        NEWCUT_NATS: 'nats://newcut:12e4@nats:4222',
      })
      expect(leader.environment).not.toHaveProperty('NEWCUT_THREADS')
    }
    expect(found.rig.environment).toMatchObject({
      NEWCUT_FLEET: 'nats://newcut:12e4@nats:4222',
      NEWCUT_THREADS: '3',
    })
    expect(found.rig.environment).not.toHaveProperty('NEWCUT_NODE')
    expect(found.nats.environment).toEqual({ NATS_PASSWORD: '"12e4"' })
  })

  it('publishes NATS with TLS for rigs elsewhere, and not without a password and an address', () => {
    const files = ['compose.yaml', 'compose.remote.yaml']
    for (const lack of [{ NATS_PASSWORD: 'secret' }, { NATS_ADDRESS: '192.0.2.7' }]) {
      expect(effective(files, lack)).toMatchObject({ status: 1, stderr: expect.stringContaining('say it in .env') })
    }
    const { status, stdout, stderr } = effective(files, { NATS_PASSWORD: 'secret', NATS_ADDRESS: '192.0.2.7' })
    expect([status, stderr]).toEqual([0, ''])
    const [{ services: found }] = yamlDocuments(stdout) as [Compose]
    expect(found.nats.ports).toEqual(['192.0.2.7:4222:4222/tcp'])
    const configurations = found.nats.volumes?.filter((volume) => volume.includes(':/etc/nats/fleet.conf'))
    expect(configurations).toEqual([`${folder}/nats/fleet-tls.conf:/etc/nats/fleet.conf:ro`])
    const urls = [found.leader, found.standby].map(({ environment }) => environment?.NEWCUT_NATS)
    expect([...urls, found.rig.environment?.NEWCUT_FLEET]).toEqual(Array(3).fill('tls://newcut:secret@nats:4222'))
    for (const { volumes, environment } of [found.leader, found.standby, found.rig]) {
      expect(volumes).toContain(`${folder}/tls/ca.pem:${environment?.NEWCUT_NATS_CA}:ro`)
    }
    expect(found.leader.volumes).toContainEqual(expect.stringMatching(/^leader:\/var\/lib\/newcut/))
  })
})

describe('compose.yaml', () => {
  it('opens nothing beyond the loopback, and NATS not at all', () => {
    const published = services.flatMap(([, { ports }]) => ports ?? [])
    expect(published.length).toBeGreaterThan(3)
    expect(published.filter((port) => !/^127\.0\.0\.1:\d+:\d+$/.test(port))).toEqual([])
    expect(new Set(published.map((port) => port.split(':')[1])).size).toBe(published.length)
    expect(compose.services.nats.ports).toBeUndefined()
  })

  it('takes images of exact versions, and rights from all', () => {
    for (const [name, { image, cap_drop, security_opt, read_only }] of services) {
      expect([name, image]).toEqual([
        name,
        expect.stringMatching(/^(docker\.io\/[\w/]+:v?\d+\.\d+\.\d+(-alpine)?|\$\{IMAGE:-newcut:local\})$/),
      ])
      expect([name, cap_drop, security_opt]).toEqual([name, ['ALL'], ['no-new-privileges:true']])
      if (!['prometheus', 'grafana'].includes(name)) expect([name, read_only]).toEqual([name, true])
    }
  })

  it('mounts files that there are, and volumes that it names, each for one service', () => {
    const mounts = services.flatMap(([, { volumes }]) => volumes ?? []).map((volume) => volume.split(':')[0])
    const files = mounts.filter((mount) => mount.startsWith('.'))
    expect(files.length).toBeGreaterThan(5)
    expect(files.filter((file) => !existsSync(join(folder, file)))).toEqual([])
    expect(mounts.filter((mount) => !mount.startsWith('.'))).toEqual(Object.keys(compose.volumes))
    // Prometheus and its alerts, Grafana and its dashboard.
    expect(files).toEqual(expect.arrayContaining(['../../grafana/alerts.yml', '../../grafana/dashboard.json']))
  })

  it('.env.example tells of every setting that there is, and of no other', () => {
    const used = new Set<string>()
    for (const file of ['compose.yaml', 'compose.remote.yaml']) {
      for (const [, name] of read(`deploy/compose/${file}`).matchAll(/\$\{(\w+)/g)) used.add(name)
    }
    const passed = services.flatMap(([, { environment }]) => Object.entries(environment ?? {}))
    for (const [name, value] of passed) if (value === null) used.add(name)
    const told = [...read('deploy/compose/.env.example').matchAll(/^#?([A-Z_]+)=/gm)].map(([, name]) => name)
    expect(told.toSorted()).toEqual([...used].toSorted())
  })

  it('Prometheus finds all services of newcut that search or lead, and Grafana finds Prometheus', () => {
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
    expect([status, stderr]).toEqual([0, ''])
  })
})

itWith(lackOf('yamllint'), 'yamllint has nothing to say', () => {
  const files = filesIn('deploy').filter((path) => /\.ya?ml$/.test(path))
  expect(files.length).toBeGreaterThan(5)
  const rules = 'line-length: {max: 120}, document-start: disable, comments: {min-spaces-from-content: 1}'
  const { status, stdout } = runTool('yamllint', ['--strict', '-d', `{extends: default, rules: {${rules}}}`, ...files])
  expect([status, stdout]).toEqual([0, ''])
})

describeWith(lackOf('nats-server'), 'NATS', () => {
  /** Starts it with one of our files, of which only addresses and folders differ. Resolves with both ports. */
  async function startNats(file: string, password: string, tls = '') {
    const data = temporaryFolder()
    const [port, monitor] = [await freePort(), await freePort()]
    const changes = [
      ['0.0.0.0:4222', `127.0.0.1:${port}`],
      ['127.0.0.1:8222', `127.0.0.1:${monitor}`],
      ['store_dir: /data', `store_dir: ${data}`],
    ]
    const text = changes.reduce(
      (before, [from, to]) => {
        expect(before).toContain(from)
        return before.replace(from, to)
      },
      read(`deploy/compose/nats/${file}`),
    )
    const config = join(data, 'fleet.conf')
    writeFileSync(config, text.replaceAll('/etc/nats/tls', tls))
    // As the compose file gives it.
    const env = { PATH: PROGRAM_PATH, NATS_PASSWORD: `"${password}"` }
    const child = spawn('nats-server', ['--config', config], { env, stdio: 'ignore' })
    onTestFinished(() => ended(child))
    const get = (path: string) => fetch(`http://127.0.0.1:${monitor}${path}`)
    const isWell = () =>
      get('/healthz').then(
        ({ ok }) => ok,
        () => false,
      )
    await until(isWell)
    return { port, get }
  }

  const login = (password: string) =>
    `CONNECT {"verbose":false,"pedantic":false,"tls_required":false,"user":"newcut","pass":"${password}"}\r\nPING\r\n`

  /** What it answers to somebody with this password. */
  function answerTo(port: number, password: string, ca?: string): Promise<string> {
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
      // It speaks first, in the clear: TLS begins after that.
      plain.once('data', () => {
        if (ca === undefined) return talk(plain)
        const secure = connectTls({ socket: plain, ca, servername: 'nats' }, () => talk(secure))
        secure.on('error', reject)
      })
    })
  }

  const passwords = ['12e4', '007', 'x'.repeat(48)]
  it.for(passwords)('takes the password %s as it is, keeps others out, and has JetStream', async (password) => {
    const { port, get } = await startNats('fleet.conf', password)
    expect(await answerTo(port, password)).toBe('PONG')
    expect(await answerTo(port, 'another')).toBe("-ERR 'Authorization Violation'")
    const { config } = (await (await get('/jsz')).json()) as { config: { max_storage: number } }
    expect(config.max_storage).toBe(1024 ** 3)
  })

  it('speaks TLS only, with a certificate that names it as the containers call it', async () => {
    const tls = temporaryFolder()
    mkdirSync(tls, { recursive: true })
    const subject = ['-subj', '/CN=nats', '-addext', 'subjectAltName=DNS:nats']
    const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-keyout', 'key.pem', '-days', '2']
    const made = runTool('openssl', ['req', '-x509', ...key, '-out', 'cert.pem', ...subject], { cwd: tls })
    expect(made.status).toBe(0)
    const { port } = await startNats('fleet-tls.conf', 'secret', tls)
    const ca = readFileSync(join(tls, 'cert.pem'), 'utf8')
    expect(await answerTo(port, 'secret', ca)).toBe('PONG')
    expect(await answerTo(port, 'wrong', ca)).toBe("-ERR 'Authorization Violation'")
    await expect(answerTo(port, 'secret')).rejects.toThrow(/^closed after /)
  })
})

function ended(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    child.once('close', () => resolve())
    child.kill('SIGKILL')
  })
}
