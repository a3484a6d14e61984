import { readdirSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join, sep } from 'node:path';
import { RuntimeError, toRuntimeError } from '../../../errors.ts';
import { followLinks } from '../../../files/real-path.ts';
import type { Problem } from '../../../yaml/problem.ts';
import type {
  DiscoveredPlugins,
  PluginTool as OfferedTool,
  PluginContext,
  PluginSources,
} from '../../plugin-discovery.ts';
import type { DeclaredHook, PluginFolder, ProcessConfig } from '../../process-config.ts';
import { flowControlResult } from '../flow-control.ts';
import { type PluginTool, readSchemaReply } from '../plugin-schema.ts';
import type { ChibiSettings } from './settings.ts';

type ChibiHook = DeclaredHook<ChibiSettings>;

/** The time limit of `--schema`. */
const SCHEMA_TIMEOUT_MS = 30_000;

/** Runs every plugin with `--schema`, all at once. */
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
    if (own.length === 0) addNote(name, 'its --schema registers no hook, so it is never asked');
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

/** Runs one plugin with `--schema`. Throws the RuntimeError of the process, and REPLY_MALFORMED. */
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
    throw configInvalid({ ...source, severity: 'error', message: `hooks[${name}]: ${error.message}` });
  }
}

/** One hook for each element that registers hook points. */
function hooksOf(hook: ChibiHook, elements: readonly PluginTool[]): ChibiHook[] {
  const listening = elements.filter(({ hooks }) => hooks.length > 0);
  return listening.map(({ name, hooks }) => ({
    ...hook,
    name: listening.length === 1 || name === '' ? hook.name : `${hook.name}/${name}`,
    settings: {
      ...{ ...hook.settings, tool: name, points: hooks },
      // What a path leads to is compared with it.
      projectRoot: followLinks(hook.settings.projectRoot),
    },
  }));
}

interface PluginEntries {
  /** Absent for an element without a name. */
  readonly tool?: OfferedTool;
  readonly hooks: readonly ChibiHook[];
}

interface FolderContext {
  readonly ask: AskSchema;
  readonly addNote: AddNote;
  /** The config file’s folder. */
  readonly projectDir: string;
}

/** The plugins of a folder in the order of their names, then of their elements. */
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

/** What to do with an unusable plugin: a note, or with `on_failure: deny` a CONFIG_INVALID error. */
function createSkip({ onFailure, position }: PluginFolder, note: AddNote): Skip {
  if (onFailure !== 'deny') return note;
  return (file, why) => {
    throw configInvalid({ ...position, severity: 'error', message: `${file}: ${why}`, hint: skippedHint });
  };
}

const skippedHint =
  'With `on_failure: deny` no plugin is left out: repair it, or give it a name that ends in `.disabled`.';

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

/** The executables of a folder; skipped files are noted. */
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
      const why = `it leads out of ${root} and is left out; declare ${file} as a hook or tool by its path`;
      return { kind: 'unusable', why };
    }
    const { mode } = statSync(file);
    if ((mode & 0o111) !== 0) return { kind: 'plugin', file };
    if (isFolder) return { kind: 'unusable', why: `${file} is not executable, so the folder is no plugin` };
    return { kind: 'no plugin', why: 'the file is not executable, so it is no plugin' };
  } catch (thrown) {
    return { kind: 'unusable', why: `the plugin cannot be read: ${toRuntimeError(thrown).message}` };
  }
}

function configInvalid(problem: Problem): RuntimeError {
  const { file, line, column, message } = problem;
  const location = `${file}:${line}:${column}`;
  return new RuntimeError('CONFIG_INVALID', `${location} ${message}`, { details: { problems: [problem] } });
}
