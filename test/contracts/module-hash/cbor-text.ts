/**
 * Shows CBOR as text: `[..]` is an array of known length, `<..>` one of unknown length, `x` bytes in hex, `{k: v}` a
 * map. It reads each head as it stands and refuses any that is not in its shortest form.
 */
export function cborText(bytes: Uint8Array): string {
  let at = 0
  const head = (): readonly [major: number, value: bigint] => {
    const first = bytes[at++]
    const low = first & 31
    if (low < 24) return [first >> 5, BigInt(low)]
    if (low === 31) return [first >> 5, -1n]
    const size = 2 ** (low - 24)
    let value = 0n
    for (let i = 0; i < size; i++) value = (value << 8n) | BigInt(bytes[at++])
    if (value < (size === 1 ? 24n : 1n << BigInt(4 * size))) throw new Error(`a head at ${at} is not the shortest`)
    return [first >> 5, value]
  }
  const raw = (length: bigint) => {
    at += Number(length)
    return bytes.subarray(at - Number(length), at)
  }
  const hex = (part: Uint8Array) => Buffer.from(part).toString('hex')
  const several = (count: bigint) => Array.from({ length: Number(count) }, item)
  function item(): string {
    if (bytes[at] === 0xf6) {
      at++
      return 'null'
    }
    if (bytes[at] === 0xf4 || bytes[at] === 0xf5) return String(bytes[at++] === 0xf5)
    if (bytes[at] === 0xc2 || bytes[at] === 0xc3) return `${bytes[at++] === 0xc2 ? 'big' : '-big'} ${item()}`
    const [major, value] = head()
    if (major === 0) return String(value)
    if (major === 1) return String(-1n - value)
    if (major === 2) return `x${hex(raw(value))}`
    if (major === 3) return JSON.stringify(new TextDecoder().decode(raw(value)))
    if (major === 4 && value >= 0n) return `[${several(value).join(' ')}]`
    if (major === 5) return `{${Array.from({ length: Number(value) }, () => `${item()}: ${item()}`).join(', ')}}`
    if (major !== 4) throw new Error(`major type ${major} at ${at}`)
    const items: string[] = []
    while (bytes[at] !== 0xff) items.push(item())
    at++
    return `<${items.join(' ')}>`
  }
  const text = item()
  if (at !== bytes.length) throw new Error(`${bytes.length - at} bytes are left`)
  return text
}
