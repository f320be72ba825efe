/** The machines for which the package brings a compiled kernel, and what compiles it. */

export interface Target {
  /** As Node names it: `process.platform` and `process.arch`, which is also the folder in prebuilds/. */
  readonly name: string
  /** What the names of the tools begin with. */
  readonly prefix: string
  /** Packages of Debian that bring them. */
  readonly debian: string
  /** For compiler and linker. */
  readonly flags: readonly string[]
  /** What the kernel may need of the machine, by the names that the tools print. */
  readonly mayNeed: RegExp
  /** Arguments of the tool that lists that. */
  readonly lister: readonly [tool: string, ...args: string[]]
}

/**
 * A kernel needs nothing but Node: no C library, so that it runs with glibc of any age and with musl alike. What the
 * compiler itself needs, such as the look at the processor, is linked in.
 */
const LINUX: Pick<Target, 'flags' | 'mayNeed' | 'lister'> = {
  flags: ['-fno-stack-protector', '-nostdlib', '-s', '-Wl,--build-id=none', '-lgcc'],
  mayNeed: /^\s+U (napi_\w+)$/,
  lister: ['nm', '-D', '--undefined-only'],
}

export const targets: readonly Target[] = [
  { name: 'linux-x64', prefix: 'x86_64-linux-gnu-', debian: 'gcc', ...LINUX },
  { name: 'linux-arm64', prefix: 'aarch64-linux-gnu-', debian: 'gcc-aarch64-linux-gnu', ...LINUX },
  {
    name: 'win32-x64',
    prefix: 'x86_64-w64-mingw32-',
    debian: 'gcc-mingw-w64-x86-64-win32',
    // gcc puts wide vectors on the stack, which Windows aligns to 16 bytes only: moves must not ask for more.
    flags: ['-static-libgcc', '-s', '-Wa,-muse-unaligned-vector-move', '-Wl,--no-insert-timestamp'],
    mayNeed: /DLL Name: (node\.exe|kernel32\.dll|msvcrt\.dll)$/i,
    lister: ['objdump', '-p'],
  },
]

/** The tools of this machine for itself have no prefix everywhere. */
export function toolOf(target: Target, tool: string, host: string): string {
  return target.name === host ? tool : `${target.prefix}${tool}`
}
