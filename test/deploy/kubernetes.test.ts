/** The Kubernetes manifest, checked by the types of Kubernetes, by kubectl if installed, and for consistency. */
import { createServer } from 'node:http'
import { describe, expect, it } from 'vitest'
import { describeWith, lackOf } from '../needs.ts'
import { freePort } from '../ports.ts'
import { complaintsAbout } from './manifest-types.ts'
import { healthCheck, read, runTool, yamlDocuments } from './tools.ts'

interface Container {
  readonly name: string
  readonly image: string
  readonly args: readonly string[]
  readonly env?: readonly Variable[]
  readonly envFrom?: readonly { readonly configMapRef: { readonly name: string } }[]
  readonly ports: readonly { readonly name: string; readonly containerPort: number }[]
  readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[]
  readonly resources: { readonly requests: Quantities; readonly limits: Quantities }
  readonly securityContext: unknown
  readonly [probe: `${string}Probe`]: {
    readonly httpGet?: { readonly path: string; readonly port: string }
    readonly exec?: { readonly command: readonly string[] }
    readonly tcpSocket?: { readonly port: string }
  }
}

interface Variable {
  readonly name: string
  readonly value?: string
  readonly valueFrom?: { readonly secretKeyRef?: { readonly name: string; readonly key: string } }
}

type Quantities = Readonly<Record<string, string>>
type Labels = Readonly<Record<string, string>>

interface PodSpec {
  readonly containers: readonly [Container]
  readonly volumes?: readonly { readonly name: string; readonly configMap?: { readonly name: string } }[]
  readonly priorityClassName?: string
  readonly enableServiceLinks: boolean
  readonly automountServiceAccountToken: boolean
  readonly securityContext: { readonly runAsNonRoot: boolean; readonly runAsUser: number; readonly fsGroup: number }
}

interface KubernetesObject {
  readonly kind: string
  readonly metadata: { readonly name: string; readonly namespace?: string }
  readonly data?: Labels
  readonly spec: {
    readonly serviceName?: string
    readonly clusterIP?: string
    readonly replicas?: number
    readonly selector: Labels & { readonly matchLabels: Labels }
    readonly ports?: readonly { readonly port: number; readonly targetPort: string }[]
    readonly podSelector?: { readonly matchLabels?: Labels }
    readonly template: { readonly metadata: { readonly labels: Labels }; readonly spec: PodSpec }
    readonly volumeClaimTemplates?: readonly { readonly metadata: { readonly name: string } }[]
    readonly minAvailable?: number
    readonly ingress?: readonly Rule[]
    readonly egress?: readonly Rule[]
  }
}

interface Rule {
  readonly ports: readonly { readonly port: number | string }[]
}

const text = read('deploy/kubernetes/newcut.yaml')
const ownObjects = yamlDocuments(text) as KubernetesObject[]
/** All objects, including the optional relays. */
const objects = [...ownObjects, ...(yamlDocuments(read('deploy/kubernetes/relay.yaml')) as KubernetesObject[])]
const ofKind = (...kinds: string[]) => objects.filter(({ kind }) => kinds.includes(kind))
const named = (kind: string, name: string) => ofKind(kind).find(({ metadata }) => metadata.name === name)
const workloads = ofKind('StatefulSet', 'DaemonSet').map(({ metadata, spec }) => {
  const { labels } = spec.template.metadata
  const pod = spec.template.spec
  return { name: metadata.name, spec, labels, pod, container: pod.containers[0] }
})
const selects = (selector: Labels, labels: Labels) =>
  Object.entries(selector).every(([name, value]) => labels[name] === value)

describe('the manifest, by the types of Kubernetes', () => {
  it('the manifest has only known fields, of the right types, and all required ones', () => {
    expect(objects.length).toBeGreaterThan(12)
    expect(complaintsAbout(objects)).toEqual([])
  })

  it.each([
    ['a field that there is not', 'serviceName: nats', 'serviceNames: nats'],
    ['a field that must be', '  serviceName: nats\n', ''],
    ['a number that is text', 'replicas: 2', 'replicas: two'],
    ['a type of services that there is not', 'externalTrafficPolicy: Local', 'externalTrafficPolicy: 4'],
    ['a kind that there is not', 'kind: DaemonSet', 'kind: DemonSet'],
    ['an old version of a kind', 'apiVersion: policy/v1\n', 'apiVersion: policy/v1beta1\n'],
    [
      'a probe at a path and no port',
      '              port: monitor\n            periodSeconds: 30',
      '            periodSeconds: 30',
    ],
  ])('the check of the manifest reports %s', (_what, before, after) => {
    expect(text).toContain(before)
    expect(complaintsAbout(yamlDocuments(text.replace(before, after)))).not.toEqual([])
  })
})

describeWith(lackOf('kubectl'), 'kubectl', () => {
  it('kustomize renders the kustomization, with the same objects', () => {
    const { status, stdout, stderr } = runTool('kubectl', ['kustomize', 'deploy/kubernetes'])
    expect(stderr).toBe('')
    expect(status).toBe(0)
    const key = (each: unknown) => JSON.stringify(each, Object.keys(flat(each)).toSorted())
    expect((yamlDocuments(stdout) as unknown[]).map(key).toSorted()).toEqual(ownObjects.map(key).toSorted())
  })
})

/** Every field name at any depth, as a list for JSON.stringify, which then writes fields in a fixed order. */
function flat(value: unknown): Record<string, true> {
  if (typeof value !== 'object' || value === null) return {}
  const own = Array.isArray(value) ? [] : Object.keys(value).map((name) => [name, true] as const)
  return Object.assign(Object.fromEntries(own), ...Object.values(value).map(flat))
}

describe('consistency', () => {
  it("every object is in the manifest's namespace, under a unique name", () => {
    const wide = ['Namespace', 'PriorityClass']
    const [namespace] = ofKind('Namespace').map(({ metadata }) => metadata.name)
    const inside = objects.filter(({ kind }) => !wide.includes(kind)).map(({ metadata }) => metadata.namespace)
    expect([...new Set(inside)]).toEqual([namespace])
    const names = objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`)
    expect(new Set(names).size).toBe(names.length)
    for (const { metadata } of objects) expect(metadata.name).toMatch(/^[a-z]([-a-z0-9]*[a-z0-9])?$/)
  })

  it('every selector matches its pods', () => {
    for (const { spec, labels, name } of workloads) {
      expect(selects(spec.selector.matchLabels, labels), name).toBe(true)
      const others = workloads.filter((each) => each.name !== name)
      expect(
        others.some((each) => selects(spec.selector.matchLabels, each.labels)),
        name,
      ).toBe(false)
    }
    const found = (selector: Labels) =>
      workloads.filter(({ labels }) => selects(selector, labels)).map(({ name }) => name)
    const services = ofKind('Service').map(({ metadata, spec }) => [metadata.name, found(spec.selector)])
    expect(Object.fromEntries(services)).toEqual({
      nats: ['nats'],
      metrics: ['leader', 'rig', 'stratum', 'relay'],
      leader: ['leader'],
      stratum: ['stratum'],
      'stratum-pods': ['stratum'],
      relay: ['relay'],
      'relay-pods': ['relay'],
    })
    const budgets = ofKind('PodDisruptionBudget').map(({ spec }) => found(spec.selector.matchLabels))
    expect(budgets).toEqual([['nats'], ['leader'], ['relay']])
    const policies = ofKind('NetworkPolicy').map(({ metadata, spec }) => [
      metadata.name,
      found(spec.podSelector?.matchLabels ?? {}),
    ])
    expect(Object.fromEntries(policies)).toEqual({
      nobody: ['nats', 'leader', 'rig', 'stratum', 'relay'],
      nats: ['nats'],
      stratum: ['stratum'],
      metrics: ['leader', 'rig', 'stratum', 'relay'],
      rig: ['rig'],
      relay: ['relay'],
    })
  })

  const probesOf = (container: Container) =>
    (['startupProbe', 'livenessProbe', 'readinessProbe'] as const).flatMap((name) => container[name] ?? [])

  it('no probe kills a leader or rig that waits for work; one kills a hanging process', async () => {
    const ours = workloads.filter(({ container }) => container.image.includes('newcut'))
    expect(ours.map(({ name }) => name)).toEqual(['leader', 'rig', 'stratum', 'relay'])
    const port = await freePort()
    for (const { container } of ours) {
      expect(container.startupProbe).toBeUndefined()
      const [program, ...args] = container.livenessProbe.exec?.command ?? []
      expect(program).toBe('newcut-health')
      const isAlive = () => healthCheck(args.map((word) => word.replace(':4148', `:${port}`)))
      expect(await isAlive()).toBe(0)
      // This server accepts connections and never answers.
      const hanging = createServer()
      await new Promise<void>((resolve) => hanging.listen(port, '127.0.0.1', resolve))
      expect(await isAlive()).toBe(1)
      await new Promise((resolve) => {
        hanging.close(resolve)
        hanging.closeAllConnections()
      })
    }
  })

  it('ports have the names that services, probes and policies use', () => {
    const ports = (container: Container) => container.ports.map(({ name }) => name)
    for (const { container } of workloads) {
      const asked = probesOf(container).flatMap(({ httpGet, tcpSocket }) => httpGet ?? tcpSocket ?? [])
      expect(asked.length).toBeGreaterThan(0)
      for (const { port } of asked) expect(ports(container)).toContain(port)
    }
    for (const { spec } of ofKind('Service')) {
      for (const { name, container, labels } of workloads.filter((each) => selects(spec.selector, each.labels))) {
        expect(labels && ports(container), name).toEqual(
          expect.arrayContaining(spec.ports?.map(({ targetPort }) => targetPort) ?? []),
        )
      }
    }
    const known = new Set<number | string>([53, ...workloads.flatMap(({ container }) => ports(container))])
    const called = ofKind('NetworkPolicy').flatMap(({ spec }) =>
      [...(spec.ingress ?? []), ...(spec.egress ?? [])].flatMap((rule) => rule.ports.map(({ port }) => port)),
    )
    expect(called.length).toBeGreaterThan(3)
    expect(called.filter((port) => !known.has(port))).toEqual([])
  })

  it('stateful sets have the headless service that they name', () => {
    for (const { metadata, spec } of ofKind('StatefulSet')) {
      expect(named('Service', spec.serviceName ?? '')?.spec.clusterIP, metadata.name).toBe('None')
    }
  })

  it('every mount has a volume, and every volume is mounted', () => {
    for (const { name, spec, pod, container } of workloads) {
      const claims = (spec.volumeClaimTemplates ?? []).map(({ metadata }) => metadata.name)
      const volumes = [...(pod.volumes ?? []).map((volume) => volume.name), ...claims].toSorted()
      expect(container.volumeMounts.map((mount) => mount.name).toSorted(), name).toEqual(volumes)
      for (const { configMap } of pod.volumes ?? []) {
        if (configMap !== undefined) expect(named('ConfigMap', configMap.name)).toBeDefined()
      }
    }
    const classes = workloads.flatMap(({ pod }) => pod.priorityClassName ?? [])
    expect(classes.map((name) => named('PriorityClass', name)?.kind)).toEqual(['PriorityClass'])
    const maps = workloads.flatMap(({ container }) => (container.envFrom ?? []).map((each) => each.configMapRef.name))
    expect(maps.map((name) => named('ConfigMap', name)?.kind)).toEqual(['ConfigMap', 'ConfigMap'])
  })

  it("variables are defined before they are used, and the manifest's first lines create its secrets", () => {
    for (const { container } of workloads) {
      const before = new Set<string>()
      for (const { name, value = '', valueFrom } of container.env ?? []) {
        for (const [, used] of value.matchAll(/\$\((\w+)\)/g)) expect(before).toContain(used)
        if (valueFrom?.secretKeyRef !== undefined) expect(valueFrom.secretKeyRef.name).toBe('newcut')
        before.add(name)
      }
    }
    expect(text).toMatch(/create secret generic newcut --from-literal=nats-password=/)
  })
})

describe('privileges', () => {
  it('no pod runs as root, writes to its image, or has capabilities, a token or service variables', () => {
    for (const { name, pod, container } of workloads) {
      expect(pod, name).toEqual(
        expect.objectContaining({ automountServiceAccountToken: false, enableServiceLinks: false }),
      )
      expect(pod.securityContext).toEqual({
        runAsNonRoot: true,
        runAsUser: 10001,
        runAsGroup: 10001,
        fsGroup: 10001,
        seccompProfile: { type: 'RuntimeDefault' },
      })
      expect(container.securityContext).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      })
    }
  })

  it('every container requests processor and memory in valid units, and limits memory', () => {
    for (const { name, container } of workloads) {
      const { requests, limits } = container.resources
      expect(requests.cpu, name).toMatch(/^\d+m$/)
      expect(requests.memory, name).toMatch(/^\d+Mi$/)
      expect(limits.memory, name).toMatch(/^\d+[MG]i$/)
      const bytes = (text: string) => Number.parseInt(text, 10) * (text.endsWith('Gi') ? 1024 : 1)
      expect(bytes(limits.memory)).toBeGreaterThanOrEqual(bytes(requests.memory))
    }
  })

  it('two leaders have a journal each, one of them may be evicted, and newcut writes only to its volumes', () => {
    const leader = named('StatefulSet', 'leader')
    expect(leader?.spec.replicas).toBe(2)
    expect(named('PodDisruptionBudget', 'leader')?.spec.minAvailable).toBe(1)
    expect(leader?.spec.volumeClaimTemplates?.map(({ metadata }) => metadata.name)).toEqual(['state'])
    for (const { name, container } of workloads.filter((each) => each.name !== 'nats')) {
      const state = container.env?.find((variable) => variable.name === 'NEWCUT_STATE')?.value
      const paths = container.volumeMounts.map(({ mountPath }) => mountPath)
      expect(paths.toSorted(), name).toEqual(['/tmp', '/var/cache/newcut', state])
    }
  })

  it('three NATS servers form a cluster that all clients know, and one of them may be evicted', () => {
    const nats = named('StatefulSet', 'nats')
    expect(nats?.spec.replicas).toBe(3)
    expect(named('PodDisruptionBudget', 'nats')?.spec.minAvailable).toBe(2)
    const hosts = [0, 1, 2].map((number) => `nats-${number}.${nats?.spec.serviceName}`)
    const told = (workload: string, name: string) =>
      workloads
        .find((each) => each.name === workload)
        ?.container.env?.find((variable) => variable.name === name)
        ?.value?.replaceAll(/\$\((NATS_)?PASSWORD\)/g, 'secret')
    const urls = hosts.map((host) => `nats://newcut:secret@${host}:4222`).join(',')
    const known = [told('leader', 'NEWCUT_NATS'), told('rig', 'NEWCUT_FLEET'), told('relay', 'NEWCUT_FLEET')]
    expect(known).toEqual([urls, urls, urls])
    expect(told('leader', 'NEWCUT_NATS_REPLICAS')).toBe('3')
    for (const [i, host] of hosts.entries()) {
      expect(told('nats', `ROUTE_${i + 1}`)).toBe(`"nats://newcut:secret@${host}:6222"`)
    }
  })

  it.each([
    ['stratum', 1],
    ['relay', 2],
  ])(
    '%s: rigs have a stable address, to pods with a journal that are ready once rigs can connect',
    (name, replicas) => {
      const [{ container, spec }] = workloads.filter((each) => each.name === name)
      expect(container.readinessProbe).toMatchObject({ tcpSocket: { port: 'stratum' } })
      const port = container.ports.find((each) => each.name === 'stratum')?.containerPort
      const listening = container.env?.find((each) => each.name === 'NEWCUT_STRATUM_LISTEN')?.value
      expect(listening).toBe(`0.0.0.0:${port}`)
      expect(named('Service', name)?.spec).toMatchObject({ type: 'LoadBalancer', ports: [{ port }] })
      expect(spec.replicas).toEqual(replicas)
      expect(spec.volumeClaimTemplates?.map(({ metadata }) => metadata.name)).toEqual(['state'])
    },
  )

  it('relays talk only to NATS, under the names of their pods, and one of them may be evicted', () => {
    const [{ container }] = workloads.filter(({ name }) => name === 'relay')
    expect(container.envFrom).toBeUndefined()
    expect(container.env?.map(({ name }) => name)).not.toContain('NEWCUT_NODE')
    expect(container.env?.find(({ name }) => name === 'NEWCUT_RIG')).toMatchObject({
      valueFrom: { fieldRef: { fieldPath: 'metadata.name' } },
    })
    expect(named('NetworkPolicy', 'relay')?.spec.egress).toEqual(named('NetworkPolicy', 'rig')?.spec.egress)
    expect(named('PodDisruptionBudget', 'relay')?.spec.minAvailable).toBe(1)
  })
})
