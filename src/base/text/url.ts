/** Whether `HOST[:PORT]` names this machine. */
export function isLoopbackName(host: string): boolean {
  const name = host.replace(/:\d*$/, '').toLowerCase();
  return /^(?:localhost|(?:[\w-]+\.)*localhost|127(?:\.\d{1,3}){3}|\[::1\]|::1)$/.test(name);
}

/** The text with its percent escapes decoded; as it is, where one of them is none. */
export function decodePercent(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
