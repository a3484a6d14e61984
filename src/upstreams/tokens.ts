import { readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { StoredOAuthClientInformation, StoredOAuthTokens } from '@modelcontextprotocol/client';
import { RuntimeError } from '../base/errors.ts';
import { systemCode, whyUnreadable } from '../base/files/file-error.ts';
import { replaceAtomically, writeDurably } from '../base/files/new-file.ts';
import { isObject } from '../base/json/json.ts';
import { tryParse } from '../base/json/parse.ts';
import { makeFolder } from '../store/sqlite/folder.ts';
import { withFileLock } from '../store/sqlite/run-locks.ts';

/** What `signalbox mcp login` keeps of a server. */
export interface Login {
  readonly client: StoredOAuthClientInformation;
  readonly tokens: StoredOAuthTokens;
}

/** The file with the tokens of one server, which only its owner can read. Tokens of another URL are not used. */
export interface TokenFile {
  /** Undefined without a login at the URL. Throws FILE_UNREADABLE. */
  read(): Login | undefined;
  /** Throws FILE_UNREADABLE. */
  write(login: Login): void;
  /** False if there was no file. Throws FILE_UNREADABLE. */
  remove(): boolean;
  /** Runs work while no other process does so. Rejects with the abort reason. */
  locked<Result>(work: () => Promise<Result>, signal?: AbortSignal): Promise<Result>;
}

/** `folder`: that of the state; undefined if the config keeps none. */
export function openTokenFile(server: { name: string; url: string }, folder: string | undefined): TokenFile {
  const { name, url } = server;
  const file = join(folder ?? '', 'mcp', `${name}.json`);
  const used = <Result>(what: string, work: () => Result): Result => {
    if (folder === undefined)
      throw new RuntimeError(
        'USAGE',
        'the tokens of a login are kept beside the state, and the config keeps no state',
        {
          hint: 'Remove `type: memory` from `spec.state_store`.',
        },
      );
    try {
      return work();
    } catch (cause) {
      if (cause instanceof RuntimeError) throw cause;
      throw new RuntimeError('FILE_UNREADABLE', `${file} ${what} (${whyUnreadable(cause)})`, { cause });
    }
  };
  return {
    read: () =>
      used('cannot be read', () => {
        const text = readIfThere(file);
        if (text === undefined) return undefined;
        const login = tryParse(text);
        if (!isLogin(login))
          throw new RuntimeError('FILE_UNREADABLE', `${file} does not contain the tokens of a login`, {
            hint: `Run \`signalbox mcp login ${name}\` again.`,
          });
        return login.url === url ? login : undefined;
      }),
    write: (login) =>
      used('cannot be written', () => {
        makeFolder(dirname(file));
        const text = `${JSON.stringify({ url, ...login }, undefined, 2)}\n`;
        replaceAtomically(file, (draft) => writeDurably(draft, text, 0o600));
      }),
    remove: () =>
      used('cannot be removed', () => {
        const isThere = readIfThere(file) !== undefined;
        rmSync(file, { force: true });
        return isThere;
      }),
    locked: async (work, signal) => {
      used('cannot be locked', () => makeFolder(dirname(file)));
      return await withFileLock(`${file}.lock`, work, signal);
    },
  };
}

function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

function isLogin(value: unknown): value is Login & { readonly url: string } {
  if (!isObject(value)) return false;
  const { url, client, tokens } = value;
  const hasClient = isObject(client) && typeof client['client_id'] === 'string';
  return (
    typeof url === 'string' && hasClient && isObject(tokens) && typeof tokens['access_token'] === 'string'
  );
}
