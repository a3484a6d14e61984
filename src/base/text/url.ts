export function isLoopbackName(host: string): boolean {
  const name = host.replace(/:\d*$/, '').toLowerCase();
  return /^(?:localhost|(?:[\w-]+\.)*localhost|127(?:\.\d{1,3}){3}|\[::1\]|::1)$/.test(name);
}

/** Returns the text unchanged if any percent escape is invalid. */
export function decodePercent(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
