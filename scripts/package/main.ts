/**
 * `npm run package`: builds what is published. Names say what to build, without any everything is built; further words
 * go to the first: `npm run package -- kernels linux-arm64`, `npm run package -- hiveos without-node`.
 */
import { packageKernels } from './kernels.ts'
import { packageNpm } from './npm.ts'
import { packageHiveos, packageMmpos } from './rigs.ts'

/** Gets what follows its name on the command line, prints what it did, and returns the exit code. */
type Packager = (args: readonly string[]) => number | Promise<number>

/** In the order in which they run. */
const packagers: Readonly<Record<string, Packager>> = {
  kernels: packageKernels,
  npm: packageNpm,
  hiveos: packageHiveos,
  mmpos: packageMmpos,
}

const [name, ...args] = process.argv.slice(2)
if (name !== undefined && packagers[name] === undefined) {
  console.error(`npm run package: there is no ${name}; there are ${Object.keys(packagers).join(', ')}`)
  process.exitCode = 2
} else {
  for (const each of name === undefined ? Object.keys(packagers) : [name]) {
    const code = await packagers[each](args)
    process.exitCode = Math.max(Number(process.exitCode ?? 0), code)
  }
}
