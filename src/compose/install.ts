/**
 * Builds the optional native parts for this machine, with a line of output for each. `npm ci` runs this file in a
 * checkout. A missing part is not an error: newcut then uses WebAssembly, writes to each rig separately, or sees one of
 * several identical cards. `install.js NAME FILE` builds only one part, into the cache of the user.
 */
import { KERNEL, prebuiltFault, prebuiltKernel } from '#mining/engine/cpu/native-files.ts'
import { LAYER, writeInstalledManifest } from '#mining/engine/gpu/identical.ts'
import type { NativePart } from '#mining/engine/native/part.ts'
import { cachePart, installPart } from '#mining/engine/native/provide.ts'
import { SEND } from '#mining/engine/stratum/native-send.ts'

const print = (line: string) => console.log(`newcut: ${line}`)

async function install(part: NativePart): Promise<void> {
  print(await installPart(part, process.env))
}

async function installKernel(): Promise<void> {
  const fault = prebuiltFault(prebuiltKernel)
  if (fault === null) return void print(`native kernel: prebuilt for ${process.platform}-${process.arch}`)
  if (fault !== 'absent') print(`the prebuilt native kernel is not used: ${fault}`)
  await install(KERNEL)
}

async function installLayer(): Promise<void> {
  await install(LAYER)
  writeInstalledManifest()
}

const [, , name, cached] = process.argv
const part = [KERNEL, SEND].find((each) => each.name === name)
if (part !== undefined) print(await cachePart(part, cached, process.env))
else {
  await Promise.all([
    installKernel(),
    process.platform === 'linux' && installLayer(),
    process.platform !== 'win32' && install(SEND),
  ])
}
