import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { readingsFor, type SensorReading } from '../../src/mining/mine/hardware.ts'
import type { EngineDevice } from '../../src/mining/mine/rates.ts'
import { readHwmon } from '../../src/mining/sensors/hwmon.ts'
import { askNvidia, parseCards } from '../../src/mining/sensors/nvidia.ts'
import { Sensors } from '../../src/mining/sensors/sensors.ts'
import { hwmonFolder, nvidiaTool, temporaryFolder, ZEN } from '../api/running.ts'
import { settle, VirtualClock } from '../mine/virtual-clock.ts'
import { until } from '../wait.ts'

const H200 = 'NVIDIA H200, 00000000:5D:00.0, 57, [N/A], 612.34'

describe('hwmon of Linux', () => {
  it('hwmon has the temperature of a Zen processor, and of an Intel one', async () => {
    const intel = { name: 'coretemp', temp1_label: 'Package id 0', temp1_input: '48000', temp2_label: 'Core 0' }
    const [zen, core] = await Promise.all([
      readHwmon(hwmonFolder([ZEN])),
      readHwmon(hwmonFolder([{ files: { ...intel, temp2_input: '52000' } }])),
    ])
    expect(zen).toEqual([expect.objectContaining({ kind: 'cpu', celsius: 71.25, fanPercent: null, watts: null })])
    expect(core).toMatchObject([{ kind: 'cpu', celsius: 48 }])
  })

  it('hwmon has the highest temperature of a processor without labels, and null if its sensor fails', async () => {
    const files = { name: 'coretemp', temp1_input: '40000', temp2_input: '45000' }
    expect(await readHwmon(hwmonFolder([{ files }]))).toMatchObject([{ celsius: 45 }])
    expect(await readHwmon(hwmonFolder([{ files: { name: 'k10temp', temp1_input: '' } }]))).toMatchObject([
      { celsius: null },
    ])
  })

  it('hwmon has temperature, fan and power of AMD cards, in the order of their buses', async () => {
    const card = { name: 'amdgpu', temp1_label: 'edge', temp1_input: '61000', pwm1: '102', power1_average: '212000000' }
    const newer = { name: 'amdgpu', temp1_input: '55000', power1_input: '98500000' }
    const folder = hwmonFolder([
      { pci: '0000:0b:00.0', files: newer },
      { files: { name: 'nvme', temp1_input: '33000' } },
      { pci: '0000:03:00.0', files: card },
    ])
    expect(await readHwmon(folder)).toEqual([
      { kind: 'gpu', vendor: 'amd', model: null, pci: '03:00.0', celsius: 61, fanPercent: 40, watts: 212 },
      { kind: 'gpu', vendor: 'amd', model: null, pci: '0b:00.0', celsius: 55, fanPercent: null, watts: 98.5 },
    ])
  })

  it('sensors of a machine without hwmon are empty', async () => {
    expect(await readHwmon('/nowhere')).toEqual([])
  })
})

/** Whether the process exists and has not ended. */
function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    // Linux keeps an ended process in its table until its parent waits for it.
    const stat = `/proc/${pid}/stat`
    return !existsSync('/proc/self/stat') || !/\) Z /.test(readFileSync(stat, 'utf8'))
  } catch {
    return false
  }
}

describe('nvidia-smi', () => {
  const ask = (script: string, timeoutMs = 10_000) => askNvidia({ env: nvidiaTool(script), timeoutMs })

  it('nvidia-smi lists all cards, with null for values that a card lacks', async () => {
    const second = 'NVIDIA GeForce RTX 4090, 00000000:01:00.0, 66, 43, 301.5'
    expect(await ask(`printf '%s\\n' '${H200}' '${second}'`)).toEqual([
      {
        kind: 'gpu',
        vendor: 'nvidia',
        model: 'NVIDIA H200',
        pci: '5d:00.0',
        celsius: 57,
        fanPercent: null,
        watts: 612.34,
      },
      {
        ...{ kind: 'gpu', vendor: 'nvidia', model: 'NVIDIA GeForce RTX 4090', pci: '01:00.0' },
        ...{ celsius: 66, fanPercent: 43, watts: 301.5 },
      },
    ])
  })

  it('nvidia-smi gets a request for exactly these figures', async () => {
    const folder = temporaryFolder()
    await ask(`echo "$@" > ${folder}/arguments`)
    const expected = '--query-gpu=name,pci.bus_id,temperature.gpu,fan.speed,power.draw --format=csv,noheader,nounits\n'
    expect(readFileSync(join(folder, 'arguments'), 'utf8')).toBe(expected)
  })

  it('nvidia-smi may be missing, fail, or have no card', async () => {
    expect(await askNvidia({ env: { PATH: '/nowhere' }, timeoutMs: 10_000 })).toBe('missing')
    expect(await ask(`echo '${H200}'; exit 9`)).toEqual([])
    expect(parseCards('No devices were found\n')).toEqual([])
    expect(parseCards('NVIDIA H200, ?, 57, 43, 1')).toMatchObject([{ model: 'NVIDIA H200', pci: null }])
  })

  it('the reader of nvidia-smi gives up at once if the miner has stopped', async () => {
    const answer = await askNvidia({ env: nvidiaTool('sleep 60'), timeoutMs: 60_000, signal: AbortSignal.abort() })
    expect(answer).toBe('silent')
  })

  it('a hanging nvidia-smi is killed with its children', async () => {
    const folder = temporaryFolder()
    const file = join(folder, 'started')
    // The command starts slowly on a busy machine, so the timeout doubles until it has started its child.
    for (let timeoutMs = 300; !existsSync(file); timeoutMs *= 2) {
      expect(await ask(`sleep 86400 & echo $! > ${file}.new; mv ${file}.new ${file}; sleep 86400`, timeoutMs)).toBe(
        'silent',
      )
    }
    await until(() => !isRunning(Number(readFileSync(file, 'utf8'))))
  })
})

describe('sensors of a miner', () => {
  /** A tool that counts its runs. */
  function counted(script: string) {
    const file = join(temporaryFolder(), 'runs')
    const env = nvidiaTool(`echo x >> ${file}; ${script}`)
    return { env, runs: () => (existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n').length : 0) }
  }

  function started(env: NodeJS.ProcessEnv, hwmon = '/nowhere', hasCards = true) {
    const clock = new VirtualClock()
    const sensors = new Sensors({ clock, hwmon, powercap: '/nowhere', env, hasCards: () => hasCards })
    onTestFinished(() => sensors.stop())
    return { clock, sensors }
  }

  it('the miner reads its sensors at once, and then every 5 s', async () => {
    const { env, runs } = counted(`echo '${H200}'`)
    const { clock, sensors } = started(env, hwmonFolder([ZEN]))
    await expect.poll(() => sensors.readings.length).toBe(2)
    await expect.poll(() => clock.pending).toBe(3)
    await clock.pass(4999)
    expect(runs()).toBe(1)
    await clock.pass(1)
    await expect.poll(runs).toBe(2)
  })

  it('the miner does not read cards if no card mines', async () => {
    const { env, runs } = counted(`echo '${H200}'`)
    const { clock } = started(env, '/nowhere', false)
    await expect.poll(() => clock.pending).toBe(3)
    await clock.pass(60_000)
    expect(runs()).toBe(0)
  })

  it('sensors report nothing once they have been silent for half a minute', async () => {
    const { clock, sensors } = started({ PATH: '/nowhere' }, hwmonFolder([ZEN]), false)
    await expect.poll(() => sensors.readings.length).toBe(1)
    sensors.stop()
    await clock.pass(30_000)
    expect(sensors.readings).toHaveLength(1)
    await clock.pass(1)
    expect(sensors.readings).toEqual([])
  })

  it('the miner gives up a sensor program that hung, and delays nothing meanwhile', async () => {
    const { env, runs } = counted('sleep 60')
    const { clock, sensors } = started(env, hwmonFolder([ZEN]))
    await expect.poll(() => sensors.readings.length).toBe(1)
    let turns = 0
    // Sensors give up the tool after 4 s of real time, and then schedule its next run.
    await until(() => {
      turns++
      return clock.pending === 3
    })
    expect(turns).toBeGreaterThan(2)
    for (let i = 0; i < 10; i++) {
      await clock.pass(5000)
      await settle()
    }
    expect(runs()).toBe(1)
  })
})

describe('reading of a device', () => {
  const device = (parts: Partial<EngineDevice>): EngineDevice => {
    return { engine: 'gpu', device: 'gpu0', kernel: 'wgsl', hashes: 0, faults: 0, ...parts }
  }
  const reading = (parts: Partial<SensorReading>): SensorReading => {
    const unknown = { celsius: null, fanPercent: null, watts: null, pci: null, model: null }
    return { kind: 'gpu', vendor: 'nvidia', ...unknown, ...parts }
  }
  const [first, second] = [reading({ model: 'X', pci: '01:00.0' }), reading({ model: 'X', pci: '02:00.0' })]
  const amd = reading({ vendor: 'amd', pci: '03:00.0' })
  const mined = { model: 'X', vendor: 'nvidia' }

  it('a device gets its reading by the name of the card, or by its vendor if the sensors know no name', () => {
    const devices = [
      device({ model: 'AMD Y', vendor: 'amd' }),
      device(mined),
      device({ engine: 'cpu', hardware: 'cpu' }),
    ]
    const cpu = reading({ kind: 'cpu', vendor: '' })
    expect(readingsFor(devices, [cpu, amd, first])).toEqual([amd, first, cpu])
  })

  it('identical cards get readings in order if all of them mine, and none otherwise', () => {
    expect(readingsFor([device(mined), device(mined)], [first, second])).toEqual([first, second])
    expect(readingsFor([device(mined)], [first, second])).toEqual([null])
  })

  it('a card that no sensor names, or that is not opened yet, has no reading', () => {
    expect(readingsFor([device({ model: 'Z', vendor: 'intel' }), device({})], [first, amd])).toEqual([null, null])
  })
})
