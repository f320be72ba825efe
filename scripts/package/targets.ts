/** The targets of prebuilt kernels, and their toolchains. */

export interface Target {
  /** Name by `process.platform` and `process.arch`, which is also the folder in prebuilds/. */
  readonly name: string
  /** Prefix of the tool names. */
  readonly prefix: string
  /** Debian packages of the toolchain. */
  readonly debian: string
  /** Compiler and linker flags. */
  readonly flags: readonly string[]
  /** Permitted dependencies of the kernel, as the lister prints them. */
  readonly mayNeed: RegExp
  /** Tool that lists the dependencies, with its arguments. */
  readonly lister: readonly [tool: string, ...args: string[]]
}

/**
 * A kernel depends only on Node and not on a C library, so it runs with any glibc and with musl. Compiler support code,
 * such as CPU detection, is linked statically.
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
    // gcc puts wide vectors on the stack, which Windows aligns to 16 bytes only, so moves must be unaligned.
    flags: ['-static-libgcc', '-s', '-Wa,-muse-unaligned-vector-move', '-Wl,--no-insert-timestamp'],
    mayNeed: /DLL Name: (node\.exe|kernel32\.dll|msvcrt\.dll)$/i,
    lister: ['objdump', '-p'],
  },
]

/** The tool of a target. Native tools have no prefix on some systems. */
export function toolOf(target: Target, tool: string, host: string): string {
  return target.name === host ? tool : `${target.prefix}${tool}`
}
