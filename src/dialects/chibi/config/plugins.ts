import { isUtf8 } from 'node:buffer';
import { readdirSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join, sep } from 'node:path';
import { type RuntimeError, toRuntimeError } from '../../../base/errors.ts';
import { followLinks } from '../../../base/files/paths.ts';
import { isObject, type Json } from '../../../base/json/json.ts';
import { compileDataSchema } from '../../../base/yaml/data-schema.ts';
import { configInvalid } from '../../../base/yaml/problem.ts';
import type { ProcessReply } from '../../../contract/exchange.ts';
import type {
  DeclaredHook,
  DiscoveredPlugins,
  PluginTool as OfferedTool,
  PluginContext,
  PluginFolder,
  PluginSources,
  ProcessConfig,
} from '../../../process/process-config.ts';
import { malformed } from '../../body.ts';
import { type ChibiSettings, isPoint, type PointName } from '../points.ts';

type ChibiHook = DeclaredHook<ChibiSettings>;

const SCHEMA_TIMEOUT_MS = 30_000;

export async function discover(
  { hooks, folders }: PluginSources<ChibiSettings>,
  context: PluginContext,
): Promise<DiscoveredPlugins<ChibiSettings>> {
  const { addNote } = context;
  const ask = (name: string, exec: ProcessConfig) => askSchema(name, exec, context);
  const schemas = await Promise.all(
    hooks.map(async (hook) => [hook, await requireSchema(hook, ask)] as const),
  );
  const entries = await Promise.all(
    folders.map(async (folder) => await readFolder(folder, { ask, addNote, projectDir: context.folder })),
  );
  const declared = new Map(schemas.map(([hook, elements]) => [hook, hooksOf(hook, elements)]));
  for (const [{ name }, own] of declared) {
    if (own.length === 0) addNote(name, 'its --schema registers no hook, so it never runs');
  }
  const found = entries.flat();
  return {
    declared,
    hooks: found.flatMap((entry) => entry.hooks),
    tools: found.flatMap(({ tool }) => tool ?? []),
  };
}

type AddNote = PluginContext['addNote'];
type AskSchema = (name: string, exec: ProcessConfig) => Promise<readonly PluginTool[]>;

async function askSchema(
  name: string,
  exec: ProcessConfig,
  { ask, addNote }: PluginContext,
): Promise<readonly PluginTool[]> {
  const described = { ...exec, args: ['--schema'], timeoutMs: SCHEMA_TIMEOUT_MS };
  const env = { CHIBI_HOOK: undefined, CHIBI_TOOL_NAME: undefined };
  const message = { method: '--schema', body: '', terminator: '', env } as const;
  const { elements, warnings } = await ask({ name, exec: described }, message, readSchemaReply);
  for (const warning of warnings) addNote(name, warning);
  return elements;
}

async function requireSchema(
  { name, source, exec }: ChibiHook,
  ask: AskSchema,
): Promise<readonly PluginTool[]> {
  try {
    return exec === undefined ? [] : await ask(name, exec);
  } catch (thrown) {
    const error = toRuntimeError(thrown);
    if (error.code === 'ABORTED') throw error;
    const message = `hooks[${name}]: ${error.message}`;
    throw configInvalid(source.file, [{ ...source, severity: 'error', message }]);
  }
}

function hooksOf(hook: ChibiHook, elements: readonly PluginTool[]): ChibiHook[] {
  const listening = elements.filter(({ hooks }) => hooks.length > 0);
  return listening.map(({ name, hooks }) => ({
    ...hook,
    name: listening.length === 1 || name === '' ? hook.name : `${hook.name}/${name}`,
    settings: {
      ...{ ...hook.settings, tool: name, points: hooks },
      projectRoot: followLinks(hook.settings.projectRoot),
    },
  }));
}

interface PluginEntries {
  readonly tool?: OfferedTool;
  readonly hooks: readonly ChibiHook[];
}

interface FolderContext {
  readonly ask: AskSchema;
  readonly addNote: AddNote;
  readonly projectDir: string;
}

async function readFolder(
  folder: PluginFolder,
  { ask, addNote, projectDir }: FolderContext,
): Promise<PluginEntries[]> {
  const skip = createSkip(folder, addNote);
  const files = findPlugins(folder, addNote, skip);
  const read = await Promise.all(
    files.map(async (file) => {
      const exec = execOf(folder, file);
      const elements = await ask(basename(file), exec).catch((thrown) => {
        const error = toRuntimeError(thrown);
        if (error.code === 'ABORTED') throw error;
        skip(file, `the plugin could not be loaded: ${error.message}`);
        return [];
      });
      return elements.map((element) => toPluginEntries(element, { folder, projectDir, exec, file }));
    }),
  );
  return read.flat();
}

type Skip = (place: string, why: string) => void;

function createSkip({ onFailure, position }: PluginFolder, note: AddNote): Skip {
  if (onFailure !== 'deny') return note;
  return (file, why) => {
    const message = `${file}: ${why}`;
    throw configInvalid(position.file, [{ ...position, severity: 'error', message, hint: skippedHint }]);
  };
}

const skippedHint =
  'With `on_failure: deny`, every plugin must load: repair it, or give it a name that ends in `.disabled`.';

interface PluginSource {
  readonly folder: PluginFolder;
  readonly projectDir: string;
  readonly exec: ProcessConfig;
  readonly file: string;
}

function toPluginEntries(
  element: PluginTool,
  { folder, projectDir, exec, file }: PluginSource,
): PluginEntries {
  const { name, description, parameters, hooks, isParallel, isFlowControl, endsTurn } = element;
  const source = { file, line: 1, column: 1 };
  const tool: OfferedTool = {
    ...{ name, description, inputSchema: parameters, exec, position: source },
    ...(!isParallel && { isExclusive: true }),
    ...(isFlowControl && { flow: { endsTurn, answer: (args) => flowControlResult({ endsTurn }, args) } }),
  };
  const settings = {
    ...{ tool: name, points: hooks },
    chibiHome: dirname(folder.pluginsDir),
    projectRoot: followLinks(projectDir),
  };
  const hook: ChibiHook = {
    ...{
      name: name || basename(file),
      fileIndex: folder.fileIndex,
      exec,
      settings,
      source,
    },
    ...(folder.onFailure && { onFailure: folder.onFailure }),
  };
  return { ...(name !== '' && { tool }), hooks: hooks.length === 0 ? [] : [hook] };
}

function execOf(
  { env: named, timeoutMs, sandbox, position, pluginsDir }: PluginFolder,
  command: string,
): ProcessConfig {
  const env = [...named, `CHIBI_HOME=${dirname(pluginsDir)}`];
  return {
    ...{ command, args: [], runtime: 'exec', env, position },
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...(sandbox !== undefined && { sandbox }),
  };
}

function findPlugins({ pluginsDir }: PluginFolder, note: AddNote, skip: Skip): string[] {
  const root = realpathSync(pluginsDir);
  const names = readdirSync(root, { encoding: 'buffer' }).toSorted(Buffer.compare);
  return names.flatMap((bytes) => {
    const name = bytes.toString();
    const path = join(root, name);
    if (name.endsWith('.disabled')) {
      note(path, 'the plugin is disabled', 'debug');
      return [];
    }
    const found = inspectPlugin(path, root);
    if (found.kind === 'plugin') return [found.file];
    if (found.kind === 'no plugin') note(path, found.why, 'debug');
    else skip(path, found.why);
    return [];
  });
}

type PluginFile =
  | { readonly kind: 'plugin'; readonly file: string }
  | { readonly kind: 'no plugin' | 'unusable'; readonly why: string };

function inspectPlugin(path: string, root: string): PluginFile {
  try {
    const isFolder = statSync(path).isDirectory();
    const file = realpathSync(isFolder ? join(path, basename(path)) : path);
    if (!file.startsWith(`${root}${sep}`)) {
      const why = `it is outside ${root} and is left out; declare ${file} as a hook or tool by its path`;
      return { kind: 'unusable', why };
    }
    const { mode } = statSync(file);
    if ((mode & 0o111) !== 0) return { kind: 'plugin', file };
    if (isFolder)
      return { kind: 'unusable', why: `${file} is not executable, so the folder is not a plugin` };
    return { kind: 'no plugin', why: 'the file is not executable, so it is not a plugin' };
  } catch (thrown) {
    return { kind: 'unusable', why: `the plugin cannot be read: ${toRuntimeError(thrown).message}` };
  }
}

export interface PluginTool {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments. If the plugin gives none, any object. */
  readonly parameters: Readonly<Record<string, unknown>> | boolean;
  readonly hooks: readonly PointName[];
  /** False: runs alone, after the parallel calls of the same response. */
  readonly isParallel: boolean;
  /** Never started: `flowControlResult` has the result. */
  readonly isFlowControl: boolean;
  readonly endsTurn: boolean;
  /** Arguments that summarise a call for a person. */
  readonly summaryParams: readonly string[];
}

export interface PluginSchema {
  readonly elements: readonly PluginTool[];
  readonly warnings: readonly string[];
}

export function readSchemaReply(reply: ProcessReply): PluginSchema {
  const { exitCode, signal, stderr, stdout } = reply;
  if (exitCode === 0 && signal === null) return readSchema(stdout, stderr);
  throw schemaError(
    signal === null ? `--schema exited with code ${exitCode}` : `--schema was ended by ${signal}`,
    stderr,
  );
}

/**
 * Reads a plugin's schema: one object for each of its tools, or a list of them. Leaves out an unusable tool with a
 * warning. Throws REPLY_MALFORMED if none is left. Source: docs/plugins.md.
 */
export function readSchema(stdout: Uint8Array, stderr = ''): PluginSchema {
  const value = parse(stdout, stderr);
  const warnings: string[] = [];
  const warn = (message: string) => void warnings.push(message);
  const elements = (Array.isArray(value) ? value : [value]).flatMap((element: unknown, index) => {
    const read = readElement(element, index, warn);
    return read === undefined ? [] : [read];
  });
  if (elements.length > 0) return { elements, warnings };
  throw schemaError(['--schema describes no tool', ...warnings].join('; '), stderr);
}

function parse(stdout: Uint8Array, stderr: string): unknown {
  if (!isUtf8(stdout)) throw schemaError('--schema printed text that is not UTF-8', stderr);
  try {
    return JSON.parse(Buffer.from(stdout).toString());
  } catch {
    throw schemaError('--schema printed something other than one JSON document', stderr);
  }
}

type Warn = (message: string) => void;

function readElement(element: unknown, index: number, warn: Warn): PluginTool | undefined {
  const { name, description, parameters = null } = isObject(element) ? element : {};
  if (typeof name !== 'string' || typeof description !== 'string') {
    warn(`element ${index + 1} has no \`name\` or no \`description\` and is left out`);
    return undefined;
  }
  if (name === '')
    warn(`element ${index + 1} has an empty name: it cannot be called, and only its hooks count`);
  const schema = parameters === null ? { type: 'object' } : parameters;
  const problem = checkSchema(schema);
  if (problem !== undefined || !isSchema(schema)) {
    warn(`tool '${name}' is left out: its \`parameters\` cannot be used: ${problem}`);
    return undefined;
  }
  const members = isObject(element) ? element : {};
  const flag = (key: string, fallback: boolean) => readFlag(members, { key, fallback, name }, warn);
  return {
    name,
    description,
    parameters: schema,
    hooks: readHooks(name, members['hooks'], warn),
    isParallel: flag('parallel', true),
    isFlowControl: flag('flow_control', false),
    endsTurn: flag('ends_turn', false),
    summaryParams: stringsIn(members['summary_params']),
  };
}

function isSchema(schema: unknown): schema is PluginTool['parameters'] {
  return isObject(schema) || typeof schema === 'boolean';
}

function checkSchema(schema: unknown): string | undefined {
  if (!isSchema(schema)) return 'it is not a JSON Schema';
  try {
    compileDataSchema(schema);
    return undefined;
  } catch (thrown) {
    return thrown instanceof Error ? thrown.message : String(thrown);
  }
}

function readHooks(tool: string, hooks: unknown, warn: Warn): PointName[] {
  if (hooks === undefined) return [];
  if (!Array.isArray(hooks)) {
    warn(`the \`hooks\` of tool '${tool}' are not a list, so it has none`);
    return [];
  }
  const names = stringsIn(hooks);
  if (names.length < hooks.length) warn(`the \`hooks\` of tool '${tool}' contain something other than names`);
  for (const name of names.filter((each) => !isPoint(each))) warn(`Unknown hook '${name}' in tool '${tool}'`);
  return [...new Set(names.filter(isPoint))];
}

function readFlag(
  members: Readonly<Record<string, unknown>>,
  { key, fallback, name }: { readonly key: string; readonly fallback: boolean; readonly name: string },
  warn: Warn,
): boolean {
  const value = members[key] ?? fallback;
  if (typeof value === 'boolean') return value;
  warn(`the \`${key}\` of tool '${name}' is not a boolean and counts as ${fallback}`);
  return fallback;
}

function stringsIn(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : [];
}

function schemaError(problem: string, stderr: string): RuntimeError {
  const line = stderr.trimEnd().split('\n').at(-1)?.trim() ?? '';
  const hint = 'Started with --schema, a plugin prints one JSON object, or a list of them, and exits 0.';
  return malformed(line === '' ? problem : `${problem}: ${line}`, hint, { stderr });
}

/** A flow-control tool starts no process. Source: docs/plugins.md. */
export function flowControlResult({ endsTurn }: { readonly endsTurn: boolean }, args: Json): string {
  const { message, prompt } = isObject(args.value) ? args.value : {};
  if (endsTurn) return typeof message === 'string' ? message : 'Returning to user';
  return typeof prompt === 'string' ? `Continuing with: ${prompt}` : 'Continuing processing';
}
