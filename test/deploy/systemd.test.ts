/** The systemd units, checked by systemd's own tools if installed. No test starts them. */
import { copyFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { exitCodes } from '../../src/ground/base/exit-codes.ts'
import { itWith, lackOf } from '../needs.ts'
import { filesIn, read, root, runTool, temporaryFolder } from './tools.ts'

const units = filesIn('deploy/systemd').filter((path) => path.endsWith('.service'))
const lack = lackOf('systemd-analyze')

/** The highest allowed exposure score of each unit, as `systemd-analyze security` computes it, in tenths. */
const EXPOSURES: Readonly<Record<string, number>> = {
  // The unit has access to the network and its own folders only.
  'newcut-lead.service': 20,
  // The unit has access to GPU devices too.
  'newcut-rig.service': 26,
  'newcut.service': 26,
  'newcut-stratum.service': 20,
}

/** Units that receive NATS credentials. */
const OF_FLEETS = ['newcut-lead.service', 'newcut-rig.service', 'newcut-stratum.service']

/** Values of a setting, in order. */
const settings = (unit: string, name: string) =>
  [...read(unit).matchAll(new RegExp(`^${name}=(.*)$`, 'gm'))].map(([, value]) => value)

it('there are units for a miner alone, a leader, a rig, and a server for ASICs', () => {
  const names = ['newcut-lead.service', 'newcut-rig.service', 'newcut-stratum.service', 'newcut.service']
  expect(units.map((unit) => basename(unit))).toEqual(names)
})

describe.each(units)('%s', (unit) => {
  itWith(lack, `systemd accepts ${basename(unit)}`, () => {
    const copy = join(temporaryFolder(), basename(unit))
    copyFileSync(join(root, unit), copy)
    const { status, stdout, stderr } = runTool('systemd-analyze', ['verify', copy])
    const complaints = (stdout + stderr).split('\n').filter((line) => line.includes('newcut'))
    expect(status).toBe(0)
    expect(complaints).toEqual([])
  })

  it(`${basename(unit)} restarts after every exit except one that a restart cannot fix`, () => {
    expect([settings(unit, 'Restart'), settings(unit, 'StartLimitIntervalSec')]).toEqual([['always'], ['0']])
    const hopeless = Object.entries(exitCodes).filter(([, cause]) =>
      cause.includes('a restart would fail in the same way'),
    )
    expect(settings(unit, 'RestartPreventExitStatus')).toEqual([hopeless.map(([code]) => code).join(' ')])
  })

  it(`${basename(unit)} keeps its journal in the folder that systemd creates for it`, () => {
    const [name] = settings(unit, 'StateDirectory')
    expect(settings(unit, 'ExecStart')).toEqual([expect.stringContaining(` --state /var/lib/${name} `)])
    expect(settings(unit, 'DynamicUser')).toEqual(['yes'])
  })
})

describe.each(Object.entries(EXPOSURES))('%s', (name, threshold) => {
  itWith(lack, `${name} has an exposure below ${threshold / 10}, as systemd scores it`, (context) => {
    const [, version] = /systemd (\d+)/.exec(runTool('systemd-analyze', ['--version']).stdout) ?? []
    if (Number(version) < 250) return context.skip(`systemd ${version} judges no files: it takes 250`)
    const judged = (limit: number) => {
      const args = ['security', '--offline=true', '--no-pager', `--threshold=${limit}`]
      return runTool('systemd-analyze', [...args, join(root, 'deploy/systemd', name)])
    }
    expect(judged(threshold)).toMatchObject({ status: 0 })
    // The check can fail.
    expect(judged(5)).toMatchObject({ status: 1 })
  })
})

it('every unit has a threshold', () => {
  expect(units.map((unit) => basename(unit)).toSorted()).toEqual(Object.keys(EXPOSURES).toSorted())
})

/** The sandboxing settings of a unit, by name. */
const hardening = (unit: string) => {
  const [, service = ''] = /^\[Service\]\n([\s\S]*)^\[Install\]/m.exec(read(unit)) ?? []
  const lines = [
    ...service.matchAll(
      /^((?:Protect|Private|Restrict|SystemCall|Capability|Lock|NoNew|UMask|Limit|Supple)\w*)=(.*)$/gm,
    ),
  ]
  return Object.fromEntries(
    lines.map(([, name, value]) => [name, value]).filter(([name]) => name !== 'RestartPreventExitStatus'),
  )
}

describe('newcut.service', () => {
  it('newcut.service has the tested sandbox of a fleet rig: it reaches GPUs, nodes and its own folders', () => {
    const own = hardening('deploy/systemd/newcut.service')
    expect(own).toEqual(hardening('deploy/systemd/newcut-rig.service'))
    expect(own).toMatchObject({
      SupplementaryGroups: 'video render',
      RestrictAddressFamilies: expect.stringMatching(/^AF_INET AF_INET6 /),
    })
    for (const name of ['PrivateDevices', 'ProtectClock', 'PrivateNetwork', 'MemoryDenyWriteExecute']) {
      expect(own).not.toHaveProperty(name)
    }
  })
})

describe('newcut-stratum.service', () => {
  const unit = 'deploy/systemd/newcut-stratum.service'

  it('newcut-stratum.service is sandboxed like a leader, and may open a connection for every rig up to the limit', () => {
    const { LimitNOFILE, ...rest } = hardening(unit)
    expect(rest).toEqual(hardening('deploy/systemd/newcut-lead.service'))
    expect(Number(LimitNOFILE)).toBeGreaterThan(65_536 + 256)
  })

  it('newcut-stratum.service listens where every rig reaches it, unless its file sets another address', () => {
    expect(settings(unit, 'Environment')[0]).toBe('NEWCUT_STRATUM_LISTEN=0.0.0.0:1917')
    expect(settings(unit, 'EnvironmentFile')).toEqual(['/etc/newcut/stratum.env'])
    expect(settings(unit, 'ExecStart')[0]).not.toMatch(/stratum-listen|key/)
  })
})

describe.each(OF_FLEETS)('%s', (name) => {
  itWith(lack, `${name} passes credential files once the comment at its top is enabled`, () => {
    const text = read(join('deploy/systemd', name))
    const [, comment = ''] = /^(# {3}\[Service\]\n(?:# {3}.*\n)+)/m.exec(text) ?? []
    const lines = comment.replace(/^# {3}/gm, '')
    expect(lines).toMatch(/^LoadCredential=(\S+):\/etc\/newcut\/\S+\nEnvironment=NEWCUT_NATS_CREDS=%d\/\1$/m)
    const copy = join(temporaryFolder(), name)
    writeFileSync(copy, `${text}\n${lines}`)
    const { status, stdout, stderr } = runTool('systemd-analyze', ['verify', copy])
    const complaints = (stdout + stderr).split('\n').filter((line) => line.includes('newcut'))
    expect(status).toBe(0)
    expect(complaints).toEqual([])
  })

  it(`${name} has its secrets in a file, not on its command line`, () => {
    const unit = join('deploy/systemd', name)
    expect(settings(unit, 'EnvironmentFile')).toEqual([expect.stringMatching(/^\/etc\/newcut\/\w+\.env$/)])
    expect(settings(unit, 'ExecStart')[0]).not.toMatch(/nats|token|key/)
  })
})
