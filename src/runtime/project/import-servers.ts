import { existsSync, readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { RuntimeError } from '../../base/errors.ts';
import { nearFileHint } from '../../base/files/paths.ts';
import { writeWithoutLinks } from '../../base/files/write-inside.ts';
import { isObject } from '../../base/json/json.ts';
import { tryParse } from '../../base/json/parse.ts';
import { isCredentialName } from '../../base/text/credential-name.ts';
import { type ImportedEntry, mergeEntries } from '../../config/import/entries.ts';
import { shortPath } from '../../dialects/foreign-files.ts';
import { mergeIn, plain, readOrEmpty } from './import-hooks.ts';

export interface ServersImport {
  readonly servers: readonly string[];
  /** What is not taken over, or has to be done, in sentences. */
  readonly notes: readonly string[];
  /** The entries alone. */
  readonly yaml: string;
}

/**
 * Adds the servers of a file of MCP clients (`.mcp.json`) to the config, or only returns their entries with `isDry`.
 * Throws FILE_UNREADABLE, CONFIG_INVALID, and USAGE if a name is taken or nothing can be written.
 */
export function importServers(
  file: string,
  { config, isDry }: { readonly config: string; readonly isDry: boolean },
): ServersImport {
  if (!existsSync(file))
    throw new RuntimeError('FILE_UNREADABLE', `${file} does not exist`, { hint: nearFileHint(file) });
  const content = tryParse(readFileSync(file, 'utf8'));
  const servers = isObject(content) ? content['mcpServers'] : undefined;
  if (!isObject(servers))
    throw new RuntimeError('CONFIG_INVALID', `${file} is not a JSON object with "mcpServers"`, {
      hint: 'Name a file with the form of .mcp.json.',
    });
  const notes: string[] = [];
  const cwd =
    dirname(resolve(file)) === dirname(resolve(config))
      ? undefined
      : shortPath(dirname(resolve(file)), dirname(resolve(config)));
  const entries = Object.entries(servers).flatMap(([name, server]): ImportedEntry[] => {
    const note = (text: string) => void notes.push(`${JSON.stringify(name)} ${text}`);
    const value = isObject(server) ? toServer(name, server, { note, cwd }) : undefined;
    if (value === undefined) note('is left out: it has neither `command` nor a `url` over HTTP');
    return value === undefined ? [] : [{ section: 'mcp_servers', name: String(value['name']), value }];
  });
  const before = readOrEmpty(config);
  const known = namesIn(before);
  const names = entries.map(({ name }) => name);
  const taken = names.find((name, index) => known.has(name) || names.indexOf(name) !== index);
  if (taken !== undefined)
    throw new RuntimeError(
      'USAGE',
      `${known.has(taken) ? config : file} already has an MCP server "${taken}"`,
      {
        hint: 'Remove or rename one of the two. Nothing was written.',
      },
    );
  const after = mergeIn(config, before, entries);
  if (!isDry && entries.length > 0) writeWithoutLinks(config, after, 'Name a writable config with --config.');
  return { servers: names, notes, yaml: entries.length === 0 ? '' : mergeEntries('', entries) };
}

function namesIn(config: string): ReadonlySet<unknown> {
  const { spec } = plain(config);
  const list = isObject(spec) ? spec['mcp_servers'] : undefined;
  return new Set(Array.isArray(list) ? list.map((each) => (isObject(each) ? each['name'] : undefined)) : []);
}

interface Translation {
  readonly note: (text: string) => void;
  /** The folder of the file, where programs start; undefined if it is that of the config. */
  readonly cwd: string | undefined;
}

type Members = Readonly<Record<string, unknown>>;

function toServer(given: string, server: Members, { note, cwd }: Translation): Members | undefined {
  const { type = 'stdio', command, args, env, url, headers, ...others } = server;
  const name = given
    .replaceAll(/[^A-Za-z0-9-]+/g, '_')
    .replaceAll(/__+/g, '_')
    .replaceAll(/^[_-]+|_+$/g, '');
  if (
    name === '' ||
    (url !== undefined && !/^(?:http|streamable[-_]?http)$/i.test(String(type === 'stdio' ? 'http' : type)))
  )
    return undefined;
  if (name !== given) note(`is called ${name} here`);
  for (const key of Object.keys(others)) note(`loses \`${key}\`, which Signalbox does not know`);
  const textsOf = (value: unknown, prefix: string) =>
    isObject(value)
      ? Object.fromEntries(
          Object.entries(value).map(([key, text]) => [key, toText(key, String(text), { prefix, note })]),
        )
      : undefined;
  const plainText = (text: unknown) => toText('', String(text), { prefix: '', note });
  if (typeof url === 'string') {
    const sent = textsOf(headers, `${name}_`);
    return { name, url: plainText(url), ...(sent && { headers: sent }) };
  }
  if (typeof command !== 'string') return undefined;
  const variables = textsOf(env, '');
  return {
    ...{ name, command: plainText(command) },
    ...(Array.isArray(args) && { args: args.map(plainText) }),
    ...(variables && { env: variables }),
    ...(cwd !== undefined && { working_dir: cwd }),
  };
}

/** `${VAR}` becomes `${env:VAR}`. A secret that is written out becomes a variable, so that it is not copied. */
function toText(
  key: string,
  text: string,
  { prefix, note }: Pick<Translation, 'note'> & { readonly prefix: string },
): string {
  const filled = text.replaceAll(
    /\$\{([A-Za-z_]\w*)(:-[^}]*)?\}/g,
    (_, name, usual = '') => `\${env:${name}${usual}}`,
  );
  if (filled !== text || !isCredentialName(key)) return filled;
  const variable = `${prefix}${key}`.replaceAll(/\W+/g, '_').toUpperCase();
  note(
    `has a secret in \`${key}\`, which is not copied: set the variable ${variable}, such as in \`spec.env_file\``,
  );
  return `\${env:${variable}}`;
}
