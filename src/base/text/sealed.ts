/** Whether a value is encrypted, as signatures and redacted thinking are: Base64 of bytes that are not UTF-8 text. */
export function isSealed(value: string): boolean {
  if (!/^[\w+/-]{22,}={0,2}$/.test(value)) return false;
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(value, 'base64'));
    return false;
  } catch {
    return true;
  }
}
