/** The cache folder for results that the next start reuses: tuned values of GPUs, the compiled native kernel and its order. */
import { homedir } from 'node:os'
import { join } from 'node:path'

/** newcut's folder in the user's cache folder. It may not exist. */
export function cacheFolder(env: Readonly<Record<string, string | undefined>>, platform: NodeJS.Platform): string {
  const folder =
    platform === 'win32'
      ? env.LOCALAPPDATA || join(homedir(), 'AppData', 'Local')
      : env.XDG_CACHE_HOME || join(homedir(), '.cache')
  return join(folder, 'newcut')
}

/** The file with the measured orders of native kernels. */
export function kernelTuningFileOf(
  env: Readonly<Record<string, string | undefined>>,
  platform: NodeJS.Platform,
): string {
  return join(cacheFolder(env, platform), 'kernel-tuning.json')
}

/** The file with the tuned values of GPUs. */
export function tuningFileOf(env: Readonly<Record<string, string | undefined>>, platform: NodeJS.Platform): string {
  return join(cacheFolder(env, platform), 'gpu-tuning.json')
}
