import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { RuntimeError } from '../base/errors.ts';
import { escapeInvisible } from '../base/text/escape-invisible.ts';
import { shorten } from '../base/text/phrases.ts';
import { startDeadline } from '../base/time/deadline.ts';
import { challengeOf, createLoginProvider, type ServerAuth, scopesOf } from './auth.ts';
import type { LoginInfo, LoginOptions, UpstreamServer } from './channel.ts';
import type { Login } from './tokens.ts';

/**
 * Logs in as a person: authorization code with PKCE, over a page that this machine serves on a loopback port. Throws
 * AUTH_FAILED, USAGE, ADDRESS_REFUSED, FILE_UNREADABLE and the abort reason.
 */
export async function logIn(
  server: UpstreamServer,
  auth: ServerAuth,
  options: LoginOptions,
): Promise<LoginInfo> {
  const { name, url = '', auth: config } = server.config;
  if (config?.type !== 'login')
    throw new RuntimeError('USAGE', `MCP server "${name}" has no \`auth: {type: login}\` in the config`, {
      hint:
        config === undefined
          ? 'Add it to the entry of the server.'
          : `With \`type: ${config.type}\`, Signalbox logs in itself.`,
    });
  const { onUrl, timeoutMs = LOGIN_MS, signal } = options;
  // Fails before a person is asked.
  await auth.file.locked(async () => {}, signal);
  const state = randomBytes(32).toString('base64url');
  const callback = await listenForAnswer(state);
  const deadline = startDeadline({
    ...{ name, timeoutMs, signal },
    createError: () => failed(name, `nobody has logged in within ${Math.round(timeoutMs / 1000)} seconds`),
  });
  try {
    let login: Login | undefined;
    let target: URL | undefined;
    const provider = createLoginProvider(server, {
      read: () => login,
      write: (saved) => {
        login = saved;
      },
      redirect: (to) => {
        target = to;
      },
      ...{ redirectUrl: callback.url, state },
    });
    const run = async () => {
      // Any request shows what the server asks for; a ping has no effect.
      const ping = { jsonrpc: '2.0', id: 1, method: 'ping' };
      const response = await auth.plain(url, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
        },
        body: JSON.stringify(ping),
      });
      const challenge = await challengeOf(response);
      await response.body?.cancel();
      const { resourceMetadataUrl } = challenge ?? {};
      const scope = options.scope ?? scopesOf(server) ?? challenge?.scope;
      const flow = { ...(scope && { scope }), ...(resourceMetadataUrl && { resourceMetadataUrl }) };
      await auth.authorize(provider, { ...flow, forceReauthorization: true });
      if (target === undefined || !/^https?:$/.test(target.protocol))
        throw failed(name, 'its login page has no web address');
      onUrl(target.href);
      const answer = await callback.answer;
      const [error, code] = [answer.get('error'), answer.get('code')];
      const about = [error ?? 'no code', answer.get('error_description') ?? '']
        .filter((text) => text !== '')
        .join(': ');
      if (code === null || error !== null)
        throw failed(name, `the authorization server answered: ${shown(about)}`);
      const iss = answer.get('iss');
      await auth.authorize(provider, { ...flow, authorizationCode: code, ...(iss !== null && { iss }) });
    };
    await Promise.race([run(), deadline.expired]);
    if (login === undefined) throw failed(name, 'there is no token');
    const saved: Login = login;
    await auth.file.locked(async () => auth.file.write(saved), signal);
    return { server: name, scope: saved.tokens.scope ?? null };
  } finally {
    deadline.clear();
    callback.close();
  }
}

const LOGIN_MS = 300_000;

function shown(text: string): string {
  return shorten(escapeInvisible(text), 500);
}

function failed(name: string, reason: string): RuntimeError {
  return new RuntimeError('AUTH_FAILED', `the login at MCP server "${name}" failed: ${reason}`, {
    hint: `Run \`signalbox mcp login ${name}\` again.`,
  });
}

interface Callback {
  readonly url: string;
  /** The parameters of the first request with the state. */
  readonly answer: Promise<URLSearchParams>;
  close(): void;
}

/** RFC 8252, section 7.3. Requests without the state, which anyone on this machine can send, change nothing. */
async function listenForAnswer(state: string): Promise<Callback> {
  const { promise: answer, resolve } = Promise.withResolvers<URLSearchParams>();
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://127.0.0.1');
    const isAnswer =
      request.method === 'GET' && pathname === '/callback' && searchParams.get('state') === state;
    response.writeHead(isAnswer ? 200 : 400, {
      'content-type': 'text/plain',
      connection: 'close',
      'cache-control': 'no-store',
    });
    response.end(
      isAnswer
        ? 'Signalbox has the answer. Go back to the terminal.\n'
        : 'This address belongs to no login.\n',
    );
    if (isAnswer) resolve(searchParams);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}/callback`,
    answer,
    close: () => {
      server.close();
      server.closeIdleConnections();
    },
  };
}
