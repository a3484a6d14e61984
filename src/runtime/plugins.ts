import { readdirSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join, sep } from 'node:path';
import type { HostEnv } from '../binding/env.ts';
import { resolveExec } from '../binding/resolve.ts';
import { redactReply } from '../capability/read-reply.ts';
import type {
  ChibiHookConfig,
  ExecConfig,
  ForeignHookConfig,
  ImportConfig,
  RuntimeConfig,
  ToolConfig,
} from '../config/config.ts';
import { noopScrubber, type Scrubber, scrubError } from '../contract/scrub.ts';
import { type PluginTool, readSchemaReply } from '../dialects/chibi/plugin-schema.ts';
import { RuntimeError, toRuntimeError } from '../errors.ts';
import { openUnpooled } from '../transport/open.ts';
import type { ProcessContext } from '../transport/process.ts';
import type { ProcessReply } from '../transport/transport.ts';
import type { Problem } from '../yaml/problem.ts';
import { followLinks } from './real-path.ts';

/** The time limit of `--schema`. */
const SCHEMA_TIMEOUT_MS = 30_000;

/**
 * Runs every chibi plugin with `--schema`, all at once, and returns the config with the points of its hooks
 * and the hooks and tools of imported folders. Throws CONFIG_INVALID if a declared plugin gives no schema,
 * for a duplicate tool name, and with `on_failure: deny` if a plugin of a folder gives none (else it is
 * skipped with a note). Throws ABORTED.
 */
export async function loadPlugins(
  config: RuntimeConfig,
  host: HostEnv,
  context: ProcessContext,
  signal?: AbortSignal,
): Promise<RuntimeConfig> {
  const declaredHooks = config.foreign.filter((hook) => hook.dialect === 'chibi');
  if (declaredHooks.length === 0 && config.imports.length === 0) return config;
  const note: AddNote = (name, message, level = 'warn') =>
    context.emit({ type: 'note', name, level, message });
  const ask = (name: string, exec: ExecConfig) =>
    askSchema({ name, exec }, { config, host, context, tell: note, signal });
  const declared = new Map(
    await Promise.all(
      declaredHooks.map(
        async (hook) => [hook, await requireSchema(hook, () => ask(hook.name, hook.exec))] as const,
      ),
    ),
  );
  const imported = await Promise.all(
    config.imports.map(async (folder) => await readFolder(folder, config, { ask, tell: note })),
  );
  const own = config.foreign.flatMap((hook): ForeignHookConfig[] => {
    if (hook.dialect !== 'chibi') return [hook];
    const hooks = hooksOf(hook, declared.get(hook) ?? []);
    if (hooks.length === 0) note(hook.name, 'its --schema registers no hook, so it is never asked');
    return hooks;
  });
  const found = imported.flat();
  const tools = [...config.tools, ...found.flatMap(({ tool }) => tool ?? [])];
  requireUnique(tools);
  return { ...config, tools, foreign: [...own, ...found.flatMap(({ hooks }) => hooks)] };
}

type AddNote = (name: string, message: string, level?: 'debug' | 'warn') => void;
type AskSchema = (name: string, exec: ExecConfig) => Promise<readonly PluginTool[]>;

interface SchemaRequest {
  readonly config: RuntimeConfig;
  readonly host: HostEnv;
  readonly context: ProcessContext;
  readonly tell: AddNote;
  readonly signal: AbortSignal | undefined;
}

/** Runs one plugin with `--schema`. Throws the RuntimeError of the process, and REPLY_MALFORMED. */
async function askSchema(
  { name, exec }: { readonly name: string; readonly exec: ExecConfig },
  { config, host, context, tell: note, signal }: SchemaRequest,
): Promise<readonly PluginTool[]> {
  const described = { ...exec, args: ['--schema'], timeoutMs: SCHEMA_TIMEOUT_MS };
  const { binding } = resolveExec({ name, capability: 'tool', exec: described }, config, host);
  const transport = openUnpooled(binding, context);
  try {
    const env = { CHIBI_HOOK: undefined, CHIBI_TOOL_NAME: undefined };
    const reply = await transport.exchange({ method: '--schema', body: '', terminator: '', env }, signal);
    if (reply.via !== 'process') throw new RuntimeError('INTERNAL', 'a plugin is a process');
    const { elements, warnings } = readSchema(reply, context.scrubber);
    for (const warning of warnings) note(name, warning);
    return elements;
  } finally {
    await transport.close();
  }
}

/** Reads the schema. Throws REPLY_MALFORMED with a message that shows no secret of the reply. */
function readSchema(reply: ProcessReply, scrubber: Scrubber = noopScrubber) {
  try {
    return readSchemaReply(reply);
  } catch (thrown) {
    const hidden = redactReply(reply, scrubber);
    if (hidden.via === 'process' && hidden !== reply) readSchemaReply(hidden);
    throw scrubError(toRuntimeError(thrown), scrubber);
  }
}

async function requireSchema(
  { name, source }: ChibiHookConfig,
  ask: () => Promise<readonly PluginTool[]>,
): Promise<readonly PluginTool[]> {
  try {
    return await ask();
  } catch (thrown) {
    const error = toRuntimeError(thrown);
    if (error.code === 'ABORTED') throw error;
    throw configInvalid({ ...source, severity: 'error', message: `hooks[${name}]: ${error.message}` });
  }
}

/** One hook for each element that registers hook points. */
function hooksOf(hook: ChibiHookConfig, elements: readonly PluginTool[]): ChibiHookConfig[] {
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
  readonly tool?: ToolConfig;
  readonly hooks: readonly ChibiHookConfig[];
}

/** The plugins of a folder in the order of their names, then of their elements. */
async function readFolder(
  folder: ImportConfig,
  config: RuntimeConfig,
  { ask, tell: note }: { readonly ask: AskSchema; readonly tell: AddNote },
): Promise<PluginEntries[]> {
  const skip = createSkip(folder, note);
  const files = findPlugins(folder, { tell: note, leaveOut: skip });
  const read = await Promise.all(
    files.map(async (file) => {
      const exec = execOf(folder, file);
      const elements = await ask(basename(file), exec).catch((thrown) => {
        const error = toRuntimeError(thrown);
        if (error.code === 'ABORTED') throw error;
        skip(file, `the plugin could not be loaded: ${error.message}`);
        return [];
      });
      return elements.map((element) => toPluginEntries(element, { folder, config, exec, file }));
    }),
  );
  return read.flat();
}

type Skip = (place: string, why: string) => void;

/** What to do with an unusable plugin: a note, or with `on_failure: deny` a CONFIG_INVALID error. */
function createSkip({ onFailure, position }: ImportConfig, note: AddNote): Skip {
  if (onFailure !== 'deny') return note;
  return (file, why) => {
    throw configInvalid({ ...position, severity: 'error', message: `${file}: ${why}`, hint: skippedHint });
  };
}

const skippedHint =
  'With `on_failure: deny` no plugin is left out: repair it, or give it a name that ends in `.disabled`.';

interface PluginSource {
  readonly folder: ImportConfig;
  readonly config: RuntimeConfig;
  readonly exec: ExecConfig;
  readonly file: string;
}

function toPluginEntries(element: PluginTool, { folder, config, exec, file }: PluginSource): PluginEntries {
  const { name, description, parameters, hooks, isParallel, isFlowControl, endsTurn } = element;
  const source = { file, line: 1, column: 1 };
  const tool: ToolConfig = {
    ...{ name, description, inputSchema: parameters, exec, position: source },
    ...(!isParallel && { isExclusive: true }),
    ...(isFlowControl && { flow: { endsTurn } }),
  };
  const settings = {
    ...{ tool: name, points: hooks },
    chibiHome: dirname(folder.pluginsDir),
    projectRoot: followLinks(config.folder),
  };
  const hook: ChibiHookConfig = {
    ...{
      dialect: 'chibi',
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

function execOf({ env: named, timeoutMs, position, pluginsDir }: ImportConfig, command: string): ExecConfig {
  const env = [...named, `CHIBI_HOME=${dirname(pluginsDir)}`];
  return {
    ...{ command, args: [], runtime: 'exec', env, dialect: 'chibi', position },
    ...(timeoutMs !== undefined && { timeoutMs }),
  };
}

interface FolderReport {
  readonly tell: AddNote;
  readonly leaveOut: Skip;
}

/** The executables of a folder; skipped files are noted. */
function findPlugins({ pluginsDir }: ImportConfig, { tell: note, leaveOut: skip }: FolderReport): string[] {
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

function requireUnique(tools: readonly ToolConfig[]): void {
  const seen = new Map<string, ToolConfig>();
  for (const tool of tools) {
    const earlier = seen.get(tool.name);
    seen.set(tool.name, tool);
    if (earlier === undefined) continue;
    const message = `tool "${tool.name}" is declared twice: in ${earlier.position.file} and in ${tool.position.file}`;
    throw configInvalid({ ...tool.position, severity: 'error', message });
  }
}

function configInvalid(problem: Problem): RuntimeError {
  const { file, line, column, message } = problem;
  const location = `${file}:${line}:${column}`;
  return new RuntimeError('CONFIG_INVALID', `${location} ${message}`, { details: { problems: [problem] } });
}
