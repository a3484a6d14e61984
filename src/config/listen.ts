import { isIPv6 } from 'node:net';

/** Where a server listens. */
export interface ListenAddress {
  readonly host: string;
  /** 0: any that is free. */
  readonly port: number;
}

/** `HOST:PORT`, as `parseListen` reads it. */
export function formatListen({ host, port }: ListenAddress): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** `HOST:PORT`; an IPv6 address stands in brackets. */
export const listenPattern = '^(\\[[0-9A-Fa-f:.]+\\]|[^\\s:/\\[\\]]+):\\d{1,5}$';

const pattern = new RegExp(listenPattern);

/** The parts of `HOST:PORT`, in which an IPv6 address stands in brackets; undefined for any other text. */
export function parseListen(text: string): ListenAddress | undefined {
  if (!pattern.test(text)) return undefined;
  const colon = text.lastIndexOf(':');
  const host = text.slice(0, colon);
  const address = host.startsWith('[') ? host.slice(1, -1) : host;
  const port = Number(text.slice(colon + 1));
  if (port > 65_535 || (host.startsWith('[') && !isIPv6(address))) return undefined;
  return { host: address, port };
}
