import { RuntimeError, toRuntimeError } from '../../base/errors.ts';
import { isCredentialName } from '../../base/text/credential-name.ts';
import { isLoopbackName } from '../../base/text/url.ts';
import { once } from '../../base/time/async.ts';
import type { McpConfig, StateStoreConfig } from '../../config/config.ts';
import { type Principal, type Scope, scopes } from '../../contract/caller.ts';
import type { HostEnv } from '../../process/env.ts';
import type { KeyBook, KeyRecord } from '../../store/keys/key-book.ts';
import { mayCall, scopesOf } from '../keys/grants.ts';
import { digestOf, isKeyText } from '../keys/key-text.ts';
import { findPresented, presentedKeyOf } from '../keys/ledger.ts';
import { mayHaveKeys, openKeyBook } from '../keys/manager.ts';

type CheckedRequest = Pick<Request, 'method' | 'headers' | 'url'>;

export interface Callers {
  /**
   * Checks the host, the origin and the credential of a request, and that its sender has one of the scopes, if there are
   * any. Returns the sender, or the response to send instead: a refusal, or the metadata of the resource. Never rejects.
   */
  admit(request: CheckedRequest, needed: readonly Scope[]): Promise<Principal | Response>;
  /** Checks the host and the origin only, for what has no secrets. Returns the refusal. */
  refuseForeign(request: CheckedRequest): Response | undefined;
  /** Whether the token of `console` is a credential, as of the start. */
  readonly takesToken: boolean;
  close(): Promise<void>;
}

export interface CallersOptions {
  /** The host that the server listens on. */
  readonly host: string;
  /** The URL of the resource at that address, with the port that the server got. */
  readonly url: () => string;
  /** The body of a refusal. Default: `{"error": {"code", "message"}}`. */
  readonly bodyOf?: (refusal: { readonly code: string; readonly message: string }) => unknown;
  /** For the console, which is always behind a credential. Default: what `spec.mcp` says. */
  readonly console?: {
    readonly publicUrl: string | undefined;
    /** A credential of the person who started the server, if only this machine can reach it. */
    readonly token?: {
      readonly text: string;
      readonly name: string;
      /** Not if a key can read the calls that wait. */
      readonly unlessKeys: boolean;
    };
  };
  /** For metrics: a credential only where other machines can reach the server, which may have any name there. */
  readonly metrics?: boolean;
}

interface CallersContext extends CallersOptions {
  readonly config: Pick<McpConfig, 'publicUrl' | 'auth'>;
  readonly privateHosts: readonly string[];
  /** Where the keys are; undefined: there are none. */
  readonly store: StateStoreConfig | undefined;
  readonly env: HostEnv;
  /** Receives why credentials cannot be checked. */
  readonly report: (message: string) => void;
  readonly now?: () => number;
}

/** Rejects with LISTEN_FAILED if others could reach the server without a credential, and with STORE_FAILED. */
export async function openCallers(context: CallersContext): Promise<Callers> {
  const { config, host, url, store, env, report, bodyOf = (error) => ({ error }), now = Date.now } = context;
  const { issuer, jwksUrl, audience } = config.auth;
  const surface = surfaceOf(context);
  const { publicUrl } = surface;
  const given = context.console?.token;
  const isExposed = !isLoopbackName(host) || publicUrl !== undefined;
  const isRequired = surface.isRequired || isExposed;
  const keys = once(async () => (store === undefined ? undefined : await openKeyBook(store, env)));
  const tell = atMostEvery(REPORT_MS, report);
  const resource = () => publicUrl ?? url();
  const tokens = once(async () => {
    if (issuer === undefined || jwksUrl === undefined) return undefined;
    const { openTokens } = await import('./tokens.ts');
    return openTokens({
      issuer,
      jwksUrl,
      privateHosts: context.privateHosts,
      audience: () => audience ?? resource(),
    });
  });
  const close = async () => await (await keys.opened())?.close();
  const hasKeys = async () => {
    if (store === undefined || !mayHaveKeys(store)) return false;
    const records = (await (await keys.open())?.list()) ?? [];
    const live = records.filter(({ key }) => key.revokedAt === null).map(({ key }) => scopesOf(key));
    return live.some((held) => (surface.scope === undefined ? held.size > 0 : held.has(surface.scope)));
  };
  let own: NonNullable<CallersOptions['console']>['token'];
  try {
    requireSafe(context, surface, isExposed && issuer === undefined ? await hasKeys() : true);
    const isOpen = given !== undefined && !isExposed;
    if (isOpen && !(given.unlessKeys && (await hasKeys()))) own = given;
  } catch (error) {
    await close();
    throw error;
  }

  const find = async (text: string): Promise<Principal | undefined> => {
    if (own !== undefined && digestOf(text) === digestOf(own.text)) {
      // A key may have been created meanwhile.
      const isOver = own.unlessKeys && (await hasKeys());
      return isOver ? undefined : { ...localUser, name: own.name };
    }
    if (text.startsWith('sbx_')) {
      const book = isKeyText(text) ? await keys.open() : undefined;
      const key = book && (await findKey(book, text, now()));
      return key && principalOfKey(key);
    }
    const token = await (await tokens.open())?.verify(text);
    if (token === undefined) return undefined;
    const { subject } = token;
    const held = scopes.filter((scope) => token.scopes.includes(scope));
    return principalOf({ id: `${issuer} ${subject}`, name: subject, scopes: new Set(held), tools: null });
  };

  const findForeign = (request: CheckedRequest) => refuseForeign(request, { host, own: url(), ...surface });
  const toResponse = ({ status, code, message, headers }: Refusal) =>
    Response.json(bodyOf({ code, message }), { status, headers });
  const admit = async (
    request: CheckedRequest,
    needed: readonly Scope[],
  ): Promise<Principal | Refusal | Response> => {
    const foreign = findForeign(request);
    if (foreign !== undefined) return foreign;
    if (issuer !== undefined && isMetadata(request, resource())) return describe(request, resource(), issuer);
    const challenge = challenger({ resource: resource(), hasMetadata: issuer !== undefined, needed });
    if (hasCredentialInQuery(request.url)) return challenge(400, 'invalid_request', misplaced);
    const header = request.headers.get('authorization');
    if (header === null && !isRequired)
      return proxied.some((name) => request.headers.has(name)) ? viaProxy(surface) : localUser;
    if (header === null) return challenge(401, undefined, missing);
    const text = credentialOf(header);
    const caller = text === undefined ? undefined : await find(text);
    if (caller === undefined) return challenge(401, 'invalid_token', invalid);
    if (needed.length === 0 || needed.some((scope) => caller.scopes.has(scope))) return caller;
    return challenge(
      403,
      'insufficient_scope',
      `The credential lacks the scope that this needs: ${needed.join(' or ')}.`,
    );
  };
  return {
    admit: async (request, needed) => {
      const admitted = await admit(request, needed).catch((error: unknown): Refusal => {
        tell(toRuntimeError(error).message);
        const message = 'Credentials cannot be checked at the moment.';
        return { status: 503, code: 'unavailable', message, headers: { 'retry-after': '5' } };
      });
      return !('status' in admitted) || admitted instanceof Response ? admitted : toResponse(admitted);
    },
    refuseForeign: (request) => {
      const foreign = findForeign(request);
      return foreign && toResponse(foreign);
    },
    takesToken: own !== undefined,
    close,
  };
}

const REPORT_MS = 5_000;

/** Callers must not be able to fill the log. */
function atMostEvery(ms: number, report: CallersContext['report']): CallersContext['report'] {
  let next = Number.NEGATIVE_INFINITY;
  return (message) => {
    if (performance.now() < next) return;
    next = performance.now() + ms;
    report(message);
  };
}

/** A refusal before it has the body of its surface. Quotes nothing of the request. */
interface Refusal {
  readonly status: number;
  readonly code: string;
  readonly message: string;
  readonly headers: Readonly<Record<string, string>>;
}

const missing = 'Send a credential in the Authorization header, as a bearer token.';
const misplaced = 'A credential in the address is not accepted; send it in the Authorization header.';
const invalid = 'The credential is not valid here, or no longer.';

/** A proxy on this machine would make everybody the user of this machine. */
function viaProxy({ key }: Surface): Refusal {
  const hint = key === undefined ? '' : `; set ${key} to the URL that clients use`;
  const message = `A request through a proxy needs a credential${hint}.`;
  return { status: 403, code: 'untrusted_proxy', message, headers: {} };
}
const proxied = ['forwarded', 'via', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip'];

type Surface = ReturnType<typeof surfaceOf>;

/** What the servers of metrics, of the console and of MCP require. `key`: the config key with the name of the server. */
function surfaceOf({
  config,
  console: page,
  metrics,
}: Pick<CallersContext, 'config' | 'console' | 'metrics'>) {
  const { issuer, required = issuer !== undefined } = config.auth;
  const other = { isRequired: true, isOptional: false };
  if (metrics === true) {
    const [scope, flags] = ['runs:read', '--role viewer'] as const;
    return { ...other, isRequired: false, publicUrl: undefined, key: undefined, scope, flags };
  }
  if (page !== undefined) {
    const [key, scope, flags] = ['spec.console.public_url', 'pendings:read', '--role approver'] as const;
    return { ...other, publicUrl: page.publicUrl, key, scope, flags };
  }
  const [key, flags] = ['spec.mcp.public_url', "--tools '*'"];
  const own = { isRequired: required, isOptional: config.auth.required === false };
  return { ...own, publicUrl: config.publicUrl, key, scope: undefined, flags };
}

function requireSafe({ host }: CallersContext, surface: Surface, hasCredentials: boolean): void {
  const { publicUrl, key, isOptional, flags } = surface;
  const isLocal = isLoopbackName(host);
  const who = isLocal ? `${key} names this server to others` : `other machines can reach ${host}`;
  const fail = (what: string, hint: string) => new RuntimeError('LISTEN_FAILED', `${who}, ${what}`, { hint });
  if (!isLocal && publicUrl === undefined && key !== undefined)
    throw fail(
      'but its name there is unknown',
      `Set ${key} to the URL that clients use, or listen on 127.0.0.1.`,
    );
  if (isLocal && publicUrl === undefined) return;
  if (isOptional)
    throw fail(
      'and spec.mcp.auth.required is false',
      'Remove `required: false`, or listen on 127.0.0.1 without public_url.',
    );
  if (!hasCredentials)
    throw fail(
      'and there is no key yet',
      `Create one with \`signalbox keys create NAME ${flags}\`, or set spec.mcp.auth.issuer.`,
    );
}

/** Undefined for a key that does not exist, was revoked or replaced, or has expired. Reads the store for every call. */
async function findKey(book: KeyBook, text: string, at: number): Promise<KeyRecord | undefined> {
  const digest = digestOf(text);
  const candidates = (await book.findSecrets(digest)).map(({ key, secret }) => presentedKeyOf(key, secret));
  const found = findPresented(candidates, digest);
  if (found === undefined || found.key.revokedAt !== null) return undefined;
  return found.expiresAt !== null && at >= found.expiresAt ? undefined : found.key;
}

function principalOfKey(key: KeyRecord): Principal {
  return principalOf({ id: key.id, name: key.name, scopes: scopesOf(key), tools: key.tools });
}

function principalOf({ tools, ...who }: Omit<Principal, 'mayCall'> & Pick<KeyRecord, 'tools'>): Principal {
  return { ...who, mayCall: (tool) => mayCall({ scopes: who.scopes, tools }, tool) };
}

const localUser = principalOf({ id: 'local', name: 'local', scopes: new Set(scopes), tools: null });

/** Undefined for anything other than one bearer token. Source: RFC 6750, section 2.1. */
function credentialOf(header: string): string | undefined {
  if (header.length > MAX_CHARACTERS) return undefined;
  return /^Bearer +([\w.~+/-]+=*) *$/i.exec(header)?.[1];
}

const MAX_CHARACTERS = 16_384;

function hasCredentialInQuery(url: string): boolean {
  const { searchParams } = new URL(url);
  return [...searchParams].some(([name, value]) => isCredentialName(name) || value.startsWith('sbx_'));
}

/** Refusals that tell OAuth clients where to get a token. Sources: RFC 6750, section 3; RFC 9728, section 5.1. */
function challenger({
  resource,
  hasMetadata,
  needed,
}: {
  readonly resource: string;
  readonly hasMetadata: boolean;
  readonly needed: readonly Scope[];
}) {
  return (status: number, error: string | undefined, message: string): Refusal => {
    const parameters = {
      realm: 'signalbox',
      ...(error !== undefined && { error, error_description: message }),
      ...(hasMetadata && { resource_metadata: metadataUrlOf(resource) }),
      scope: needed.join(' '),
    };
    const challenge = Object.entries(parameters).map(([name, value]) => `${name}="${value}"`);
    const headers = { 'www-authenticate': `Bearer ${challenge.join(', ')}` };
    return { status, code: error ?? 'unauthorized', message, headers };
  };
}

const wellKnown = '/.well-known/oauth-protected-resource';

function metadataUrlOf(resource: string): string {
  const { origin, pathname } = new URL(resource);
  return `${origin}${wellKnown}${pathname === '/' ? '' : pathname}`;
}

/** Whether the metadata of the resource is there: at its own address, or at that of the whole server (RFC 9728, section 3). */
function isMetadata({ url }: CheckedRequest, resource: string): boolean {
  const { pathname } = new URL(url);
  return pathname === wellKnown || pathname === new URL(metadataUrlOf(resource)).pathname;
}

function describe({ method }: CheckedRequest, resource: string, issuer: string): Response | Refusal {
  if (method !== 'GET' && method !== 'HEAD') {
    const message = 'This address takes GET only.';
    return { status: 405, code: 'method_not_allowed', message, headers: { allow: 'GET, HEAD' } };
  }
  return Response.json({
    resource,
    authorization_servers: [issuer],
    scopes_supported: scopes,
    bearer_methods_supported: ['header'],
  });
}

/**
 * Refuses requests that name another server, which a page in a browser sends by DNS rebinding, and requests of pages of
 * other origins. The names of this server: loopback names with its port if it listens there, and its public URL.
 * A link may lead here from anywhere, but not into a frame. Source: W3C Fetch Metadata.
 */
function refuseForeign(
  { headers, method }: CheckedRequest,
  {
    host,
    own,
    publicUrl,
    key,
  }: Pick<CallersContext, 'host'> & { readonly own: string } & Pick<Surface, 'publicUrl' | 'key'>,
): Refusal | undefined {
  const { port } = new URL(own);
  const local = isLoopbackName(host) ? ['localhost', '127.0.0.1', '[::1]', new URL(own).hostname] : [];
  const names = local.map((name) => new URL(`http://${name}:${port || 80}`));
  if (publicUrl !== undefined) names.push(new URL(publicUrl));
  const named = headers.get('host')?.toLowerCase();
  // Metrics for other machines: every request needs a credential, which no page has.
  const isAnyName = key === undefined && local.length === 0;
  if (
    !isAnyName &&
    !names.some((name) => named === name.host || named === `${name.hostname}:${portOf(name)}`)
  )
    return untrusted('host', 'The Host header does not name this server.');
  const origin = headers.get('origin')?.toLowerCase();
  if (origin !== undefined && !names.some((name) => origin === name.origin))
    return untrusted('origin', 'A page of another origin cannot call this server.');
  const [site, mode, to] = ['site', 'mode', 'dest'].map((name) => headers.get(`sec-fetch-${name}`));
  const isLink = method === 'GET' && mode === 'navigate' && to === 'document';
  if (framed.has(to ?? '')) return untrusted('frame', 'This server is not shown inside other pages.');
  if (isLink || site === null || site === 'same-origin' || site === 'none') return undefined;
  return untrusted('site', 'A page of another origin cannot call this server.');
}

const framed: ReadonlySet<string> = new Set(['iframe', 'frame', 'fencedframe', 'embed', 'object']);

function untrusted(what: 'host' | 'origin' | 'site' | 'frame', message: string): Refusal {
  return { status: 403, code: `untrusted_${what}`, message, headers: {} };
}

function portOf({ protocol, port }: URL): string {
  return port || (protocol === 'https:' ? '443' : '80');
}
