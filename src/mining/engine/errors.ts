/** Errors of engines. `{name}` stands for what the throwing place passes. */
import { errorRows } from '#ground/base/errors.ts'

export const engineErrors = errorRows({
  noKernel: {
    code: 'KERNEL_REFUSED',
    text: 'no search kernel works here: {reasons}',
    hint: 'newcut devices tests all kernels; this machine may have a faulty processor or memory',
  },
  noSuchKernel: {
    code: 'KERNEL_REFUSED',
    text: 'the chosen `kernel` does not work here: {reasons}',
    hint: '`kernel: auto` picks a kernel that works here',
  },
  workForGpu: {
    code: 'KERNEL_REFUSED',
    text: 'the GPU cannot search work of {bytes} bytes',
    hint: 'it searches graphs of degree 3 (286 bytes) only; mine this one with `gpu: none`',
  },
  noGpu: {
    code: 'KERNEL_REFUSED',
    text: 'no GPU can search here: {reasons}',
    hint: 'newcut devices lists the GPUs of this machine; `gpu: none` mines without them',
  },
  idleGpu: {
    code: 'KERNEL_REFUSED',
    text: '{name} does not search: {trouble}',
    hint: 'newcut devices tests it; `gpu: none` mines without it',
  },
  softwareGpu: {
    code: 'BAD_OPTION',
    text: '`gpu: {part}`: {name} is a software driver',
    hint: '`allow-software` mines with it anyway; the CPU engine is faster',
  },
  noSuchGpu: { code: 'BAD_OPTION', text: '`gpu: {part}`: no such GPU{guess}', hint: '{listed}' },
  badTlsFiles: {
    code: 'BAD_INPUT',
    text: 'cannot use {cert} and {key} for TLS: {why}',
    hint: 'both must be PEM files',
  },
  busyPort: {
    code: 'PORT_BUSY',
    text: 'cannot listen for rigs on {host}:{port}: {why}',
    hint: 'choose another address with `stratum-listen: HOST:PORT`',
  },
})
