import { readFileSync } from 'node:fs';
import { RuntimeError } from '../../../base/errors.ts';
import { whyUnreadable } from '../../../base/files/file-error.ts';
import { isLoopbackName } from '../../../base/text/url.ts';

export interface Address {
  /** A name, an IP address, or the folder of a Unix socket. */
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password: string;
  readonly database: string;
  readonly tls: Tls | null;
  /** The address without user and password, for error messages. */
  readonly location: string;
  readonly variable: string;
}

export interface Tls {
  readonly checks: 'all' | 'all but the name' | 'nothing';
  readonly ca: string | undefined;
  readonly cert: string | undefined;
  readonly key: string | undefined;
}

type Env = Readonly<Record<string, string | undefined>>;

/**
 * Reads the address from this variable and nothing else from the environment. Throws STORE_FAILED without showing the
 * address.
 */
export function readAddress(variable: string, env: Env): Address {
  const text = Object.hasOwn(env, variable) ? (env[variable] ?? '') : '';
  if (text === '')
    throw badAddress(`${variable}, which spec.state_store.url_env names, is not set`, variable);
  const url = URL.parse(text);
  if (url === null || !/^postgres(ql)?:$/.test(url.protocol))
    throw badAddress(`${variable} is not the address of a Postgres database`, variable);
  const unknown = [...url.searchParams.keys()].find((name) => !parameters.includes(name));
  if (unknown !== undefined)
    throw badAddress(`${variable} has an unsupported parameter "${unknown}"`, variable);
  const parameter = (name: string) => url.searchParams.get(name) ?? undefined;
  const host = parameter('host') ?? url.hostname.replace(/^\[(.*)\]$/, '$1');
  const port = Number(parameter('port') ?? (url.port || DEFAULT_PORT));
  const decode = (part: string) => decodePart(part, variable);
  const user = parameter('user') ?? decode(url.username);
  const database = decode(url.pathname.slice(1));
  for (const [what, value] of Object.entries({ host, user, database }))
    if (value === '') throw badAddress(`${variable} has no ${what}`, variable);
  return {
    ...{ host, port, user, database, variable, password: parameter('password') ?? decode(url.password) },
    tls: readTls(parameter, host, variable),
    location: `postgres://${url.host === '' ? host : url.host}/${database}`,
  };
}

const DEFAULT_PORT = 5432;

const parameters = ['host', 'port', 'user', 'password', 'sslmode', 'sslrootcert', 'sslcert', 'sslkey'];

/** Plain text to another machine requires that the address says so. */
function readTls(
  parameter: (name: string) => string | undefined,
  host: string,
  variable: string,
): Tls | null {
  const mode = parameter('sslmode') ?? (isOnThisMachine(host) ? 'disable' : 'require');
  if (mode === 'disable') return null;
  const checks = tlsModes.get(mode);
  if (checks === undefined) {
    const known = ['disable', ...tlsModes.keys()].join(', ');
    throw badAddress(`${variable} has an sslmode other than ${known}`, variable);
  }
  const file = (name: string) => {
    const path = parameter(name);
    return path === undefined ? undefined : readPem(path, variable);
  };
  return { checks, ca: file('sslrootcert'), cert: file('sslcert'), key: file('sslkey') };
}

function isOnThisMachine(host: string): boolean {
  return host.startsWith('/') || isLoopbackName(host);
}

/** `require` verifies as `verify-full` does, because weaker checks must be explicit. */
const tlsModes: ReadonlyMap<string, Tls['checks']> = new Map([
  ['require', 'all'],
  ['verify-full', 'all'],
  ['verify-ca', 'all but the name'],
  ['no-verify', 'nothing'],
]);

function readPem(path: string, variable: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw badAddress(`${path}, which ${variable} names, ${whyUnreadable(error)}`, variable);
  }
}

function decodePart(text: string, variable: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw badAddress(`${variable} has an invalid % escape`, variable);
  }
}

function badAddress(message: string, variable: string): RuntimeError {
  const example = `${variable}=postgres://USER:PASSWORD@HOST:5432/DATABASE`;
  return new RuntimeError('STORE_FAILED', message, {
    hint: `Set ${example}. Encode special characters of the password, such as @ as %40.`,
  });
}
