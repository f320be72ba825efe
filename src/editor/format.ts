export function formatText(_file: string, text: string): string | null {
  return text
}
export function formatFile(
  _file: string,
  text: string,
): { text: string } | { errors: { line: number; column: number; message: string }[] } {
  return { text }
}
