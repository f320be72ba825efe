/** The makers of the graphics cards of this machine, as the system lists them: no driver and no package is needed. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Vendors of PCI whose cards search. Virtual machines and the consoles of servers have displays of other vendors. */
const PCI_VENDORS: Readonly<Record<string, string>> = { '0x10de': 'NVIDIA', '0x1002': 'AMD', '0x8086': 'Intel' }
/** The class of displays: the first byte of three. */
const IS_DISPLAY = /^0x03/
/** The programming interface of a driver, which only machines with such a card have. */
const WINDOWS_LIBRARIES: Readonly<Record<string, string>> = { 'nvapi64.dll': 'NVIDIA', 'atiadlxx.dll': 'AMD' }

interface Machine {
  readonly platform: NodeJS.Platform
  /** Folder with the devices of PCI. */
  readonly pciFolder: string
  /** Folder of the libraries of Windows. */
  readonly libraryFolder: string
}

const thisMachine: Machine = {
  platform: process.platform,
  pciFolder: '/sys/bus/pci/devices',
  libraryFolder: join(process.env.SystemRoot ?? 'C:\\Windows', 'System32'),
}

/** Each maker once. Empty if there is no card, and where newcut cannot know. Never throws. */
export function findCards({ platform, pciFolder, libraryFolder }: Machine = thisMachine): readonly string[] {
  switch (platform) {
    case 'linux':
      return pciCards(pciFolder)
    case 'darwin':
      return ['Apple']
    case 'win32':
      return Object.keys(WINDOWS_LIBRARIES)
        .filter((name) => existsSync(join(libraryFolder, name)))
        .map((name) => WINDOWS_LIBRARIES[name])
    default:
      return []
  }
}

function pciCards(folder: string): readonly string[] {
  const names = existsSync(folder) ? readdirSync(folder) : []
  const makers = names.flatMap((name) => {
    if (!IS_DISPLAY.test(valueIn(join(folder, name, 'class')))) return []
    return PCI_VENDORS[valueIn(join(folder, name, 'vendor'))] ?? []
  })
  return [...new Set(makers)]
}

function valueIn(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim()
  } catch {
    return ''
  }
}
