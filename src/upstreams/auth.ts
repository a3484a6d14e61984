import type {
  AssertionCallback,
  OAuthClientProvider,
  StoredOAuthClientInformation,
} from '@modelcontextprotocol/client';
import { RuntimeError } from '../base/errors.ts';
import { readAtMost } from '../base/text/bytes.ts';
import { escapeInvisible } from '../base/text/escape-invisible.ts';
import { shorten } from '../base/text/phrases.ts';
import { once } from '../base/time/async.ts';
import { openFetch } from '../process/web.ts';
import type { UpstreamServer } from './channel.ts';
import { serverFetch } from './http.ts';
import { type ClientSdk, loadClientSdk } from './sdk.ts';
import { type Login, openTokenFile, type TokenFile } from './tokens.ts';

type Fetch = typeof fetch;

export interface AuthOptions {
  /** Entries of `spec.private_hosts`. */
  readonly privateHosts: readonly string[];
  /** The folder of the state; undefined without any. */
  readonly folder: string | undefined;
  /** Receives every token, which no message may contain. */
  readonly addSecrets: (secrets: Iterable<string>) => void;
}

/** The connections of Signalbox to one server over HTTP, with the credentials of the config. */
export interface ServerAuth {
  /**
   * Adds the token to requests to the URL of the server, and to no others. If the server asks for a token, gets one and
   * repeats the request, so bodies must be texts or bytes. Rejects as `openFetch`, and with AUTH_FAILED and
   * LOGIN_REQUIRED.
   */
  readonly fetch: Fetch;
  /** Checks addresses, and adds no token. */
  readonly plain: Fetch;
  readonly file: TokenFile;
  /** Runs the OAuth flow of the SDK. Throws AUTH_FAILED, LOGIN_REQUIRED, ADDRESS_REFUSED. */
  authorize(provider: OAuthClientProvider, flow: Flow): Promise<'AUTHORIZED' | 'REDIRECT'>;
}

type Flow = Omit<Parameters<ClientSdk['auth']>[1], 'serverUrl' | 'fetchFn'>;

export function openServerAuth(server: UpstreamServer, options: AuthOptions): ServerAuth {
  const { auth: config, url = '', name } = server.config;
  const named = [url, config?.issuer, config?.idp?.tokenEndpoint].filter((each) => each !== undefined);
  const plain = serverFetch(server, openFetch({ named, privateHosts: options.privateHosts }));
  const file = openTokenFile({ name, url }, options.folder);
  const authorize: ServerAuth['authorize'] = async (provider, flow) => {
    const { auth } = await loadClientSdk();
    const fetchFn = createFlowFetch(plain, server.binding.timeoutMs);
    try {
      return await auth(provider, { ...flow, serverUrl: url, fetchFn });
    } catch (cause) {
      if (cause instanceof RuntimeError) throw cause;
      const reason = shorten(escapeInvisible(cause instanceof Error ? cause.message : String(cause)), 500);
      throw new RuntimeError('AUTH_FAILED', `MCP server "${name}" gave no token: ${reason}`, { cause });
    }
  };
  const fetchFn: Fetch = async (input, init) =>
    await createFlowFetch(plain, server.binding.timeoutMs)(input, init);
  const opened = once(async () => await createProvider(server, { file, fetchFn }));
  let renewing: Promise<unknown> = Promise.resolve();
  const renew = async (used: string | undefined, challenge: Challenge) => {
    const { computeScopeUnion } = await loadClientSdk();
    const { provider, locked } = await opened.open();
    await locked(async () => {
      const tokens = await provider.tokens();
      // Another request or process has renewed it meanwhile.
      if (tokens !== undefined && tokens.access_token !== used) return;
      const { isStepUp, resourceMetadataUrl } = challenge;
      const wanted = isStepUp ? computeScopeUnion(tokens?.scope, challenge.scope) : challenge.scope;
      const scope = scopesOf(server) ?? wanted;
      await authorize(provider, {
        forceReauthorization: isStepUp,
        ...(scope !== undefined && { scope }),
        ...(resourceMetadataUrl && { resourceMetadataUrl }),
      });
    });
  };
  const tokenOf = async () => {
    if (config === undefined) return undefined;
    const tokens = await (await opened.open()).provider.tokens();
    options.addSecrets([tokens?.access_token, tokens?.refresh_token].filter((text) => text !== undefined));
    return tokens?.access_token;
  };
  const send: Fetch = async (input, init) => {
    if (new URL(input instanceof Request ? input.url : input).href !== new URL(url).href)
      return await plain(input, init);
    for (let renewals = 0; ; renewals += 1) {
      const token = await tokenOf();
      const headers = new Headers(init?.headers);
      if (token !== undefined) headers.set('authorization', `Bearer ${token}`);
      const response = await plain(input, { ...init, headers });
      const challenge = await challengeOf(response);
      if (challenge === undefined || renewals === MOST_RENEWALS) return response;
      // The config says which scopes are enough.
      if (challenge.isStepUp && (config === undefined || scopesOf(server) !== undefined)) return response;
      await response.body?.cancel();
      if (config === undefined)
        throw new RuntimeError('LOGIN_REQUIRED', `MCP server "${name}" requires authentication`, {
          hint: `Add \`auth: {type: login}\` to its entry in the config, and run \`signalbox mcp login ${name}\`.`,
        });
      const next = renewing.then(() => renew(token, challenge));
      renewing = next.catch(() => {});
      await next;
    }
  };
  return { fetch: send, plain, file, authorize };
}

/** One for a token that has expired, and one for more scopes. */
const MOST_RENEWALS = 2;

export function scopesOf({ config }: UpstreamServer): string | undefined {
  const scopes = config.auth?.scopes ?? [];
  return scopes.length === 0 ? undefined : scopes.join(' ');
}

/** What a server asks for with 401, or with 403 for more scopes. Source: RFC 6750, RFC 9728. */
export interface Challenge {
  readonly scope: string | undefined;
  readonly resourceMetadataUrl: URL | undefined;
  readonly isStepUp: boolean;
}

export async function challengeOf(response: Response): Promise<Challenge | undefined> {
  const { status } = response;
  if (status !== 401 && status !== 403) return undefined;
  const { extractWWWAuthenticateParams } = await loadClientSdk();
  const { scope, resourceMetadataUrl, error } = extractWWWAuthenticateParams(response);
  if (status === 403 && error !== 'insufficient_scope') return undefined;
  return { scope, resourceMetadataUrl, isStepUp: status === 403 };
}

/** For the requests of one flow: with a time limit and a size limit, and without a second try at another address. */
function createFlowFetch(plain: Fetch, timeoutMs: number): Fetch {
  let refused: RuntimeError | undefined;
  return async (input, init) => {
    try {
      if (refused !== undefined) throw refused;
      const response = await plain(input, { ...init, signal: AbortSignal.timeout(timeoutMs) });
      const { status, headers, body } = response;
      if (status >= 300 && status < 400)
        throw new RuntimeError('AUTH_FAILED', `${new URL(input).origin} answered with a redirect`, {
          hint: 'Redirects are not followed.',
        });
      const bytes = await readAtMost(body ?? [], MOST_BYTES);
      if (bytes === undefined)
        throw new RuntimeError('OUTPUT_LIMIT', `an authorization server sent more than ${MOST_BYTES} bytes`);
      return new Response(body === null ? null : Buffer.from(bytes), { status, headers });
    } catch (thrown) {
      // The SDK would try the next address, and hide why this one failed.
      if (thrown instanceof RuntimeError) refused = thrown;
      throw thrown;
    }
  };
}

const MOST_BYTES = 1024 * 1024;

interface OpenProvider {
  readonly provider: OAuthClientProvider;
  /** Keeps processes from using one refresh token twice. */
  readonly locked: <Result>(work: () => Promise<Result>) => Promise<Result>;
}

async function createProvider(
  server: UpstreamServer,
  { file, fetchFn }: { readonly file: TokenFile; readonly fetchFn: Fetch },
): Promise<OpenProvider> {
  const { auth, name } = server.config;
  const { ClientCredentialsProvider, CrossAppAccessProvider, PrivateKeyJwtProvider, ...sdk } =
    await loadClientSdk();
  const {
    clientId = '',
    issuer: expectedIssuer = '',
    clientSecret = '',
    privateKey = '',
    algorithm = 'ES256',
  } = auth ?? {};
  const client = { clientId, expectedIssuer, clientName: CLIENT_NAME };
  const unlocked: OpenProvider['locked'] = async (work) => await work();
  if (auth?.type === 'client_credentials')
    return { provider: new ClientCredentialsProvider({ ...client, clientSecret }), locked: unlocked };
  if (auth?.type === 'private_key_jwt')
    return { provider: new PrivateKeyJwtProvider({ ...client, privateKey, algorithm }), locked: unlocked };
  if (auth?.type === 'cross_app_access' && auth.idp !== undefined) {
    const { tokenEndpoint, clientId: idpClient, idToken } = auth.idp;
    const assertion: AssertionCallback = async ({ authorizationServerUrl, resourceUrl, scope }) => {
      const { jwtAuthGrant } = await sdk.requestJwtAuthorizationGrant({
        ...{ tokenEndpoint, idToken, fetchFn, clientId: idpClient },
        ...{ audience: authorizationServerUrl, resource: resourceUrl, ...(scope !== undefined && { scope }) },
      });
      return jwtAuthGrant;
    };
    return {
      provider: new CrossAppAccessProvider({ ...client, clientSecret, assertion, fetchFn }),
      locked: unlocked,
    };
  }
  const provider = createLoginProvider(server, {
    read: file.read,
    write: (login) => (login === undefined ? void file.remove() : file.write(login)),
    // Only a login uses it.
    redirectUrl: 'http://127.0.0.1/callback',
    redirect: (to) => {
      const scope = to.searchParams.get('scope');
      // The server chooses the scope, and a person may copy the command into a shell.
      const isPlain = scope !== null && /^[\w.:/ -]{1,500}$/.test(scope);
      const command = `signalbox mcp login ${name}${isPlain ? ` --scope '${scope}'` : ''}`;
      throw new RuntimeError('LOGIN_REQUIRED', `MCP server "${name}" needs a login`, {
        hint: `Run \`${command}\`.`,
        details: { server: name, scope },
      });
    },
  });
  return { provider, locked: file.locked };
}

const CLIENT_NAME = 'Signalbox';

interface LoginContext {
  readonly read: () => Login | undefined;
  /** Undefined: the login is no longer valid. */
  readonly write: (login: Login | undefined) => void;
  readonly redirectUrl: string;
  readonly redirect: (to: URL) => void;
  readonly state?: string;
}

/** A client that is in the config, a document with its URL in the config, or one that registers itself. */
export function createLoginProvider(
  { config }: UpstreamServer,
  { read, write, redirectUrl, redirect, state }: LoginContext,
): OAuthClientProvider {
  const { clientId, clientSecret, issuer } = config.auth ?? {};
  const isDocument = clientId !== undefined && URL.canParse(clientId);
  const own: StoredOAuthClientInformation | undefined =
    clientId === undefined || isDocument
      ? undefined
      : {
          client_id: clientId,
          ...(clientSecret && { client_secret: clientSecret }),
          ...(issuer && { issuer }),
        };
  let client = own;
  let verifier = '';
  let discovery: Awaited<ReturnType<NonNullable<OAuthClientProvider['discoveryState']>>>;
  return {
    redirectUrl,
    clientMetadata: {
      client_name: CLIENT_NAME,
      redirect_uris: [redirectUrl],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
    },
    ...(isDocument && { clientMetadataUrl: clientId }),
    clientInformation: () => client ?? read()?.client,
    ...(own === undefined && {
      saveClientInformation: (registered) => {
        client = registered;
      },
    }),
    tokens: () => read()?.tokens,
    saveTokens: (tokens) => {
      const known = client ?? read()?.client;
      if (known !== undefined) write({ client: known, tokens });
    },
    invalidateCredentials: (what) => {
      if (what === 'all' || what === 'client') client = own;
      if (what !== 'verifier' && what !== 'discovery') write(undefined);
    },
    redirectToAuthorization: redirect,
    saveCodeVerifier: (text) => {
      verifier = text;
    },
    codeVerifier: () => verifier,
    ...(state !== undefined && {
      state: () => state,
      // Binds the answer to the authorization server that was asked.
      saveDiscoveryState: (found) => {
        discovery = found;
      },
      discoveryState: () => discovery,
    }),
  };
}
