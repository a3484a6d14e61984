import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { RuntimeError } from '../base/errors.ts';
import { makeTempFolder, removeTempFolder } from '../base/files/temp-folder.ts';
import { isLoopbackName } from '../base/text/url.ts';
import { once } from '../base/time/async.ts';
import { loadBuilt } from '../base/yaml/built.ts';
import {
  type Callers,
  type CallersOptions,
  loadCallers,
  loadHttpServer,
  loadOpener,
  loadShelf,
  type Runtime,
  requireListen,
  type Shelf,
} from '../runtime/runtime.ts';
import { evals } from './api/evals.ts';
import { guard } from './api/guard.ts';
import { pendings } from './api/pendings.ts';
import { runs } from './api/runs.ts';
import { session } from './api/session.ts';
import { evalsHandlers } from './handlers/evals.ts';
import { guardHandlers } from './handlers/guard.ts';
import { pendingsHandlers } from './handlers/pendings.ts';
import { runsHandlers } from './handlers/runs.ts';
import { sessionHandlers } from './handlers/session.ts';
import { consoleHandler, type Group, group, isOfConsole, type PageFiles, pagePath } from './server.ts';

interface ConsoleOptions {
  /** The name of the user of this machine, who has the token of the address. */
  readonly userName: string;
  readonly version: string;
}

export interface ServedConsole {
  /** The address of the page. With the token of this start, if there is no key. */
  readonly url: string;
  /** Ends streams, and waits a moment for other answers. Never rejects. */
  close(): Promise<void>;
}

/** Throws USAGE, LISTEN_FAILED, STORE_FAILED. */
export async function serveConsole(
  runtime: Runtime,
  { listen, userName, version }: ConsoleOptions & { readonly listen: string | undefined },
): Promise<ServedConsole> {
  return await serveSite(siteOf(runtime, version), {
    listen: listen ?? runtime.console.listen ?? '127.0.0.1:8789',
    limits: runtime.mcp.limits,
    userName,
  });
}

/**
 * Serves runs of suites only, to the user of this machine, with a token that is new at each start. Without a port, 8788
 * or any free one. Throws LISTEN_FAILED.
 */
export async function serveEvals(
  shelf: Shelf,
  {
    host,
    port,
    userName,
    version,
  }: ConsoleOptions & { readonly host: string; readonly port: number | undefined },
): Promise<ServedConsole> {
  const name = host.includes(':') ? `[${host}]` : host;
  if (!isLoopbackName(name)) {
    const message = `other machines can reach ${host}, but the pages of runs are only for this machine`;
    const hint =
      'Leave --host out. To reach the pages from another machine, use a tunnel: ssh -L 8788:127.0.0.1:8788 MACHINE.';
    throw new RuntimeError('LISTEN_FAILED', message, { hint });
  }
  const { openCallers } = await loadCallers();
  const nowhere = { config: { auth: {} }, privateHosts: [], store: undefined, env: {}, report: () => {} };
  const site: Site = {
    groups: async () => [
      group(session, sessionHandlers({ runtime: undefined, watch: shelf.watch, version })),
      group(evals, evalsHandlers(shelf)),
    ],
    openCallers: async (options) => await openCallers({ ...nowhere, ...options }),
    publicUrl: undefined,
    hasKeys: false,
    maxBytes: 128 * 1024,
  };
  const at = async (each: number) =>
    await serveSite(site, { listen: `${name}:${each}`, limits: viewLimits, userName });
  if (port === undefined) return await at(8788).catch(async () => await at(0));
  try {
    return await at(port);
  } catch (thrown) {
    if (!(thrown instanceof RuntimeError)) throw thrown;
    const hint = 'Give another --port, or leave it out to take any free port.';
    throw new RuntimeError(thrown.code, thrown.message, { hint, cause: thrown });
  }
}

const viewLimits = { headersMs: 10_000, requestMs: 30_000, idleMs: 30_000, connections: 64 };

/** The console as a part of another server. Its token stays the same when the config is read again. */
export function consoleMount({
  userName,
  version,
  token = newToken(),
}: ConsoleOptions & { readonly token?: string }) {
  let state: Awaited<ReturnType<typeof openSite>> | RuntimeError | undefined;
  return {
    takes: isOfConsole,
    /** Undefined if others could reach the console without a key. Throws STORE_FAILED. */
    open: async (runtime: Runtime, at: { readonly host: string; readonly url: () => string }) => {
      state = await openSite(siteOf(runtime, version), { ...at, userName, token }).catch(
        (thrown: unknown) => {
          if (thrown instanceof RuntimeError && thrown.code === 'LISTEN_FAILED') return thrown;
          throw thrown;
        },
      );
      return state instanceof RuntimeError ? undefined : state;
    },
    /** The address of the page at a server, or why there is none. */
    addressAt: (server: string): { readonly url: string } | { readonly reason: string } =>
      state instanceof RuntimeError
        ? { reason: `${state.message}. ${state.hint}` }
        : { url: state?.addressAt(server) ?? '' },
  };
}

/** What a console shows, and to whom. */
interface Site {
  /** Called for the first request, so that a gateway with a console starts no later. */
  readonly groups: () => Promise<readonly Group[]>;
  readonly openCallers: (options: CallersOptions) => Promise<Callers>;
  readonly publicUrl: string | undefined;
  /** Whether there is no token if there are keys. */
  readonly hasKeys: boolean;
  readonly maxBytes: number;
}

function siteOf(runtime: Runtime, version: string): Site {
  return {
    groups: async () => {
      const { openShelf } = await loadShelf();
      return [
        group(session, sessionHandlers({ runtime, version, watch: runtime.watch })),
        group(pendings, pendingsHandlers({ runtime })),
        group(runs, runsHandlers({ runtime })),
        group(evals, evalsHandlers(openShelf({ runtimes: [runtime], files: [] }))),
        group(guard, guardHandlers({ runtime })),
      ];
    },
    openCallers: runtime.callers,
    publicUrl: runtime.console.publicUrl,
    hasKeys: true,
    maxBytes: runtime.mcp.maxMessageBytes,
  };
}

async function serveSite(
  site: Site,
  {
    listen: text,
    limits,
    userName,
  }: { readonly listen: string; readonly limits: typeof viewLimits; readonly userName: string },
): Promise<ServedConsole> {
  const address = requireListen(text, 8789);
  const { listen, toListener } = await loadHttpServer();
  const at = { userName, token: newToken(), host: address.host, url: () => server.url };
  const { fetch, leave, addressAt, close } = await openSite(site, at);
  const generation = { listener: toListener((request) => fetch(request)), begin: () => () => {} };
  const server = await listen({ ...address, limits, generation: () => generation }).catch(
    async (thrown: unknown) => {
      await close();
      throw thrown;
    },
  );
  return {
    url: addressAt(server.url),
    close: async () => {
      leave();
      await server.close(LAST_ANSWERS_MS);
      await close();
    },
  };
}

const LAST_ANSWERS_MS = 200;

async function openSite(
  { groups, openCallers, publicUrl, hasKeys, maxBytes }: Site,
  {
    userName,
    token,
    host,
    url,
  }: {
    readonly userName: string;
    readonly token: string;
    readonly host: string;
    /** Of the server, without the path of the page. */
    readonly url: () => string;
  },
) {
  const callers = await openCallers({
    host,
    url: () => `${url()}${pagePath}`,
    console: { publicUrl, token: { text: token, name: userName, unlessKeys: hasKeys } },
  });
  const leaving = new AbortController();
  const handler = once(async () =>
    consoleHandler({
      ...{ callers, maxBytes, leaving: leaving.signal },
      ...{ groups: await groups(), files: loadFiles() },
    }),
  );
  return {
    fetch: async (request: Request) => await (await handler.open())(request),
    leave: () => leaving.abort(),
    addressAt: (server: string) =>
      publicUrl ?? `${server}${pagePath}${callers.takesToken ? `#key=${token}` : ''}`,
    close: callers.close,
  };
}

/** A secret of 192 bits. It is in the fragment, which browsers do not send. */
export function newToken(): string {
  return randomBytes(24).toString('base64url');
}

interface BuiltPage {
  readonly script: string;
  readonly style: string;
}

function loadFiles(): PageFiles {
  const pages = { console: '#console-page', report: '#report-page' } as const;
  const files = Object.entries(pages).flatMap(([name, built]) => {
    const { script, style } = loadBuilt<BuiltPage>(built);
    return [
      [`${name}.js`, { type: 'text/javascript', text: script }],
      [`${name}.css`, { type: 'text/css', text: style }],
    ] as const;
  });
  return { ...Object.fromEntries(files), 'icon.svg': { type: 'image/svg+xml', text: icon } };
}

const icon =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><rect x="4" width="8" height="16" rx="3" fill="#444"/><circle cx="8" cy="5" r="2.5" fill="#d33"/><circle cx="8" cy="11" r="2.5" fill="#3a3"/></svg>';

/**
 * Opens an address in the browser of this machine. The address may have a key, so it is written to a file that only
 * this user can read, and processes get the name of the file. Resolves to whether a program was found. Never rejects.
 */
export async function openInBrowser(
  url: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<boolean> {
  const folder = makeTempFolder('console');
  const file = join(folder, 'open.html');
  const text = `<!doctype html>\n<meta charset="utf-8">\n<meta name="referrer" content="no-referrer">\n<meta http-equiv="refresh" content="0; url=${url}">\n<title>Signalbox</title>\n`;
  writeFileSync(file, text, { mode: 0o600, flag: 'wx' });
  const { openFile } = await loadOpener();
  const isOpened = await openFile(file, env);
  // The browser reads the file after the program has ended.
  setTimeout(() => removeTempFolder(folder), isOpened ? BROWSER_MS : 0).unref();
  return isOpened;
}

const BROWSER_MS = 30_000;
