/** Child processes of GPU engines, as Linux lists them. */
import { readFileSync } from 'node:fs'

/** Process ids of the GPU children of a process, the newest last. */
export function gpuChildrenOf(pid: number): readonly number[] {
  const children = (read(`/proc/${pid}/task/${pid}/children`) ?? '').split(' ').filter((text) => text !== '')
  return children.map(Number).filter(isGpuChild)
}

/** Whether this process is a running GPU child. */
export function isGpuChild(pid: number): boolean {
  return read(`/proc/${pid}/cmdline`)?.includes('/engine/gpu/child.js') ?? false
}

/** @returns null if the process has gone */
function read(file: string): string | null {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ESRCH') return null
    throw error
  }
}
