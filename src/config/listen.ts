import { isIPv6 } from 'node:net';
import { RuntimeError } from '../base/errors.ts';
import type { Path, YamlDocument } from '../base/yaml/document.ts';
import type { Finding } from '../base/yaml/finding.ts';
import { nonEmptyTextAt } from '../base/yaml/read.ts';

export interface ListenAddress {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
}

/** `HOST:PORT`, as `parseListen` reads it. */
export function formatListen({ host, port }: ListenAddress): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** `HOST:PORT`, with brackets around an IPv6 address. */
export const listenPattern = '^(\\[[0-9A-Fa-f:.]+\\]|[^\\s:/\\[\\]]+):\\d{1,5}$';

const pattern = new RegExp(listenPattern);

/** Parses `HOST:PORT`, with brackets around an IPv6 address; undefined for any other text. */
export function parseListen(text: string): ListenAddress | undefined {
  if (!pattern.test(text)) return undefined;
  const colon = text.lastIndexOf(':');
  const host = text.slice(0, colon);
  const address = host.startsWith('[') ? host.slice(1, -1) : host;
  const port = Number(text.slice(colon + 1));
  if (port > 65_535 || (host.startsWith('[') && !isIPv6(address))) return undefined;
  return { host: address, port };
}

/** Throws USAGE, with an address at `usualPort` as an example. */
export function requireListen(text: string, usualPort: number): ListenAddress {
  const address = parseListen(text);
  if (address !== undefined) return address;
  const message = `the address to listen on must be HOST:PORT, not ${JSON.stringify(text)}`;
  const hint = `Write it like 127.0.0.1:${usualPort}; port 0 takes any free port.`;
  throw new RuntimeError('USAGE', message, { hint });
}

/** Reports a port that does not exist; the schema reports every other form. */
export function checkListen(document: YamlDocument, path: Path): Finding[] {
  const listen = nonEmptyTextAt(document, path);
  if (listen === undefined || !pattern.test(listen) || parseListen(listen) !== undefined) return [];
  return [{ path, message: `must be HOST:PORT with a port from 0 to 65535 (got: ${listen})` }];
}
