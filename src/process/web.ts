import type { LookupAddress } from 'node:dns';
import { lookup } from 'node:dns/promises';
import { readFile } from 'node:fs/promises';
import { Agent as HttpAgent, type IncomingMessage, request as sendHttp } from 'node:http';
import { Agent as HttpsAgent, request as sendHttps } from 'node:https';
import { BlockList, isIP, type LookupFunction } from 'node:net';
import { pipeline, Readable, type Transform } from 'node:stream';
import { constants, createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { RuntimeError } from '../base/errors.ts';
import { whyUnreadable } from '../base/files/file-error.ts';
import { matchesGlob } from '../base/text/glob.ts';
import { isLoopbackName } from '../base/text/url.ts';

export interface WebRules {
  /** URLs of the config. If the host of one is an address or `localhost`, requests to that host and port may connect to it. */
  readonly named?: string | readonly string[] | undefined;
  /** Entries of `spec.private_hosts`. */
  readonly privateHosts: readonly string[];
  /** The path of a CA certificate file, read for each request; absent: the system's certificates. */
  readonly ca?: string | undefined;
  /** Default: the system's resolver. */
  readonly resolve?: (name: string) => Promise<readonly LookupAddress[]>;
}

/**
 * A `fetch` that connects to public addresses, and to private ones that the rules allow. Each connection resolves the
 * name once, and goes to an address that was checked. Redirects are not followed, and no proxy is used. Rejects with
 * ADDRESS_REFUSED, FILE_UNREADABLE, connection errors of Node, and the abort reason.
 */
export function openFetch(rules: WebRules): typeof fetch {
  const agents = new Map<string, HttpAgent>();
  const agentOf = (protocol: string) => {
    const Own = protocol === 'https:' ? HttpsAgent : HttpAgent;
    const agent = agents.get(protocol) ?? new Own(keptAlive);
    agents.set(protocol, agent);
    return agent;
  };
  return async (input, init) => {
    const asked = new Request(input, init);
    const url = new URL(asked.url);
    const { method, signal } = asked;
    // Node calls `lookup` for names only.
    if (isIP(hostOf(url)) !== 0) await findAddresses(url, rules);
    const options = {
      ...{ method, signal, agent: agentOf(url.protocol), lookup: createLookup(url, rules) },
      headers: { accept: '*/*', 'accept-encoding': 'identity', ...Object.fromEntries(asked.headers) },
      ...(rules.ca !== undefined && { ca: await readCertificates(rules.ca), rejectUnauthorized: true }),
    };
    const body = asked.body === null ? undefined : Buffer.from(await asked.arrayBuffer());
    const send = url.protocol === 'https:' ? sendHttps : sendHttp;
    try {
      const incoming = await new Promise<IncomingMessage>((resolve, reject) => {
        send(url, options, resolve).on('error', reject).end(body);
      });
      return toResponse(incoming, method);
    } catch (thrown) {
      signal.throwIfAborted();
      throw thrown;
    }
  };
}

/** Servers keep idle connections for at least 5 seconds. */
const keptAlive = { keepAlive: true, timeout: 4_000 };

function createLookup(url: URL, rules: WebRules): LookupFunction {
  return (_name, { all }, callback) => {
    findAddresses(url, rules).then(
      (found) => (all === true ? callback(null, found) : callback(null, found[0].address, found[0].family)),
      (error: Error) => callback(error, []),
    );
  };
}

type Found = [LookupAddress, ...LookupAddress[]];

/** Throws ADDRESS_REFUSED if any address of the host is private and not allowed, and errors of the resolver. */
async function findAddresses(
  url: URL,
  { named, privateHosts, resolve = resolveName }: WebRules,
): Promise<Found> {
  const host = hostOf(url);
  const family = isIP(host);
  const [first, ...others] = family === 0 ? await resolve(url.hostname) : [{ address: host, family }];
  if (first === undefined) throw new Error(`${host} has no address`);
  const isNamed = [named ?? []].flat().some((each) => URL.parse(each)?.origin === url.origin);
  if (isNamed && (family !== 0 || isLoopbackName(host))) return [first, ...others];
  for (const { address } of [first, ...others]) {
    if (isPublic(address) || privateHosts.some((entry) => includes(entry, host, address))) continue;
    const isAddress = family !== 0;
    throw new RuntimeError(
      'ADDRESS_REFUSED',
      `${url.origin} ${isAddress ? 'is' : `leads to ${address},`} a private address`,
      { hint: `If this is meant, add ${isAddress ? address : host} to \`spec.private_hosts\`.` },
    );
  }
  return [first, ...others];
}

async function resolveName(name: string): Promise<LookupAddress[]> {
  return await lookup(name, { all: true });
}

/** URLs write IPv4 addresses in one form, and names in lower case and ASCII. */
function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[(.*)\]$|\.$/, '$1');
}

/** Whether a text can be an entry of `spec.private_hosts`. */
export function isHostEntry(text: string): boolean {
  const [network = '', ...prefix] = text.split('/');
  if (isIP(network) === 0) return /^[a-z0-9*?._-]+$/i.test(text);
  const bits = isIP(network) === 4 ? 32 : 128;
  return prefix.length === 0 || (/^\d{1,3}$/.test(prefix.join('/')) && Number(prefix) <= bits);
}

/** Whether an entry of `spec.private_hosts` includes a host that resolves to the address. */
function includes(entry: string, host: string, address: string): boolean {
  if (isIP(entry.split('/')[0] ?? '') === 0) return matchesGlob(entry.toLowerCase(), host);
  return toBlockList([entry]).check(address, familyOf(address));
}

/** Sources: the registries of special-purpose addresses of IANA (RFC 6890), and of multicast. */
function isPublic(address: string): boolean {
  const family = familyOf(address);
  // NAT64 (RFC 6052) leads to the IPv4 address in the last 32 bits, as `::ffff:` does, which a BlockList reads as IPv4.
  const plain =
    family === 'ipv4' ? address : canonical(address).replace(/^64:ff9b::(?=[^:]*:[^:]*$)/, '::ffff:');
  const routed = ['0.0.0.0/0', '2000::/3'];
  const special = [
    ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12'],
    ...['192.0.0.0/24', '192.0.2.0/24', '192.88.99.0/24', '192.168.0.0/16', '198.18.0.0/15'],
    ...['198.51.100.0/24', '203.0.113.0/24', '224.0.0.0/4', '240.0.0.0/4'],
    ...['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'],
  ];
  return toBlockList(routed).check(plain, family) && !toBlockList(special).check(plain, family);
}

function toBlockList(entries: readonly string[]): BlockList {
  const list = new BlockList();
  for (const entry of entries) {
    const [network = '', prefix] = entry.split('/');
    if (prefix === undefined) list.addAddress(network, familyOf(network));
    else list.addSubnet(network, Number(prefix), familyOf(network));
  }
  return list;
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 4 ? 'ipv4' : 'ipv6';
}

/** The form of RFC 5952, without the zone. */
function canonical(address: string): string {
  return new URL(`http://[${address.replace(/%.*$/, '')}]`).hostname.slice(1, -1);
}

async function readCertificates(file: string): Promise<Buffer> {
  return await readFile(file).catch((cause: unknown) => {
    throw new RuntimeError('FILE_UNREADABLE', `${file} ${whyUnreadable(cause)}`, { cause });
  });
}

function toResponse(incoming: IncomingMessage, method: string): Response {
  const { statusCode: status = 0, rawHeaders } = incoming;
  const headers = new Headers();
  for (let at = 0; at < rawHeaders.length; at += 2)
    headers.append(rawHeaders[at] ?? '', rawHeaders[at + 1] ?? '');
  const isEmpty = method === 'HEAD' || status === 204 || status === 205 || status === 304;
  if (isEmpty) incoming.resume();
  const body = isEmpty ? null : Readable.toWeb(decode(incoming));
  return new Response(body as ReadableStream<Uint8Array> | null, { status, headers });
}

/** Some servers, such as S3, send compressed content that no one asked for. As in `fetch`, a range of it is decoded. */
function decode(incoming: IncomingMessage): Readable {
  const open = decoders.get(incoming.headers['content-encoding']?.trim().toLowerCase() ?? '');
  return open === undefined ? incoming : pipeline(incoming, open(), () => {});
}

const decoders = new Map<string, () => Transform>([
  ['gzip', () => createGunzip({ finishFlush: constants.Z_SYNC_FLUSH })],
  ['deflate', () => createInflate({ finishFlush: constants.Z_SYNC_FLUSH })],
  ['br', () => createBrotliDecompress({ finishFlush: constants.BROTLI_OPERATION_FLUSH })],
]);
