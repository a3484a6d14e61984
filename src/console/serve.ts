import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { RuntimeError } from '../base/errors.ts';
import { makeTempFolder, removeTempFolder } from '../base/files/temp-folder.ts';
import { loadBuilt } from '../base/yaml/built.ts';
import { loadHttpServer, loadOpener, parseListen, type Runtime } from '../runtime/runtime.ts';
import { pendings } from './api/pendings.ts';
import { session } from './api/session.ts';
import { pendingsHandlers } from './handlers/pendings.ts';
import { sessionHandlers } from './handlers/session.ts';
import { consoleHandler, type Group, group, isOfConsole, type PageFiles, pagePath } from './server.ts';

interface ConsoleOptions {
  /** The name of the user of this machine, who decides with the token of the address. */
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
  { listen: given, ...options }: ConsoleOptions & { readonly listen: string | undefined },
): Promise<ServedConsole> {
  const text = given ?? runtime.console.listen ?? usualAddress;
  const address = parseListen(text);
  if (address === undefined) {
    const message = `the address to listen on must be HOST:PORT, not ${JSON.stringify(text)}`;
    const hint = 'Write it like 127.0.0.1:8789; port 0 takes any free port.';
    throw new RuntimeError('USAGE', message, { hint });
  }
  const { listen, toListener } = await loadHttpServer();
  const { fetch, leave, addressAt } = await openConsole(runtime, {
    ...{ ...options, token: newToken(), host: address.host },
    url: () => server.url,
  });
  const generation = { listener: toListener((request) => fetch(request)), begin: () => () => {} };
  const server = await listen({ ...address, limits: runtime.mcp.limits, generation: () => generation });
  return {
    url: addressAt(server.url),
    close: async () => {
      leave();
      await server.close(LAST_ANSWERS_MS);
    },
  };
}

const usualAddress = '127.0.0.1:8789';
const LAST_ANSWERS_MS = 200;

/** The console as a part of another server. Its token stays the same when the config is read again. */
export function consoleMount(options: ConsoleOptions) {
  const token = newToken();
  let state: Awaited<ReturnType<typeof openConsole>> | RuntimeError | undefined;
  return {
    takes: isOfConsole,
    /** Undefined if others could reach the console without a key. Throws STORE_FAILED. */
    open: async (runtime: Runtime, at: { readonly host: string; readonly url: () => string }) => {
      state = await openConsole(runtime, { ...options, ...at, token }).catch((thrown: unknown) => {
        if (thrown instanceof RuntimeError && thrown.code === 'LISTEN_FAILED') return thrown;
        throw thrown;
      });
      return state instanceof RuntimeError ? undefined : state;
    },
    /** The address of the page at a server, or why there is none. */
    addressAt: (server: string): { readonly url: string } | { readonly reason: string } =>
      state instanceof RuntimeError
        ? { reason: `${state.message}. ${state.hint}` }
        : { url: state?.addressAt(server) ?? '' },
  };
}

interface OpenOptions extends ConsoleOptions {
  readonly token: string;
  readonly host: string;
  /** Of the server, without the path of the page. */
  readonly url: () => string;
}

async function openConsole(runtime: Runtime, { userName, version, token, host, url }: OpenOptions) {
  const { publicUrl } = runtime.console;
  const callers = await runtime.callers({
    host,
    url: () => `${url()}${pagePath}`,
    console: { publicUrl, token: { text: token, name: userName, unlessKeys: true } },
  });
  const leaving = new AbortController();
  const groups: Group[] = [
    group(session, sessionHandlers({ runtime, version })),
    group(pendings, pendingsHandlers({ runtime })),
  ];
  const maxBytes = runtime.mcp.maxMessageBytes;
  return {
    fetch: consoleHandler({ groups, callers, files: loadFiles(), maxBytes, leaving: leaving.signal }),
    leave: () => leaving.abort(),
    addressAt: (server: string) =>
      publicUrl ?? `${server}${pagePath}${callers.takesToken ? `#key=${token}` : ''}`,
  };
}

/** A secret of 192 bits. It is in the fragment, which browsers do not send. */
function newToken(): string {
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
