/** Takes the host of a URL, with or without a port, and a bare IPv6 address. */
export function isLoopbackName(host: string): boolean {
  const name = host === '::1' ? '[::1]' : host.replace(/:\d*$/, '').toLowerCase();
  return /^(?:localhost|(?:[\w-]+\.)*localhost|127(?:\.\d{1,3}){3}|\[::1\])$/.test(name);
}

/** Returns the text unchanged if any percent escape is invalid. */
export function decodePercent(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
