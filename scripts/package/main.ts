/**
 * `npm run package`: builds the published packages. Without names it builds all. Further words are arguments of the
 * first name: `npm run package -- kernels linux-arm64`, `npm run package -- hiveos without-node`.
 */
import { packageKernels } from './kernels.ts'
import { packageManual } from './manual.ts'
import { packageNpm } from './npm.ts'
import { packageHiveos, packageMmpos } from './rigs.ts'

/** Builds one package from the remaining arguments, prints the result, and returns the exit code. */
type Packager = (args: readonly string[]) => number | Promise<number>

/** Packagers in order of execution. */
const packagers: Readonly<Record<string, Packager>> = {
  kernels: packageKernels,
  manual: packageManual,
  npm: packageNpm,
  hiveos: packageHiveos,
  mmpos: packageMmpos,
}

const [name, ...args] = process.argv.slice(2)
if (name !== undefined && packagers[name] === undefined) {
  console.error(`npm run package: no package ${name}; choose from ${Object.keys(packagers).join(', ')}`)
  process.exitCode = 2
} else {
  for (const each of name === undefined ? Object.keys(packagers) : [name]) {
    const code = await packagers[each](args)
    process.exitCode = Math.max(Number(process.exitCode ?? 0), code)
  }
}
