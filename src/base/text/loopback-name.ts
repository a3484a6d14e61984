/** Whether `HOST[:PORT]` names this machine. */
export function isLoopbackName(host: string): boolean {
  const name = host.replace(/:\d*$/, '').toLowerCase();
  return /^(?:localhost|(?:[\w-]+\.)*localhost|127(?:\.\d{1,3}){3}|\[::1\]|::1)$/.test(name);
}
