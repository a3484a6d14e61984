import { readdirSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join, sep } from 'node:path';
import type { HostEnv } from '../binding/env.ts';
import { resolveExec } from '../binding/resolve.ts';
import { hideInReply } from '../capability/read-reply.ts';
import type {
  ChibiHookConfig,
  ExecConfig,
  ForeignHookConfig,
  ImportConfig,
  RuntimeConfig,
  ToolConfig,
} from '../config/config.ts';
import { noScrub, type Scrubber, scrubError } from '../contract/scrub.ts';
import { type ChibiElement, readSchemaReply } from '../dialects/chibi/schema.ts';
import { RuntimeError, toRuntimeError } from '../errors.ts';
import { openAlone } from '../transport/open.ts';
import type { ProcessContext } from '../transport/process.ts';
import type { ProcessReply } from '../transport/transport.ts';
import type { Problem } from '../yaml/problem.ts';
import { followLinks } from './real-path.ts';

/** How long a plugin may take to say what it is. */
const SCHEMA_TIMEOUT_MS = 30_000;

/**
 * The config with every chibi plugin asked what it is: hooks have their points, and imported folders their hooks and
 * tools. Plugins are asked at once, each time the runtime opens. Throws CONFIG_INVALID for a plugin of the config that
 * does not say, and for a name that stands twice; a plugin of a folder that does not say is told of and left out, or
 * with `on_failure: deny` is CONFIG_INVALID too. Throws ABORTED once the signal is aborted.
 */
export async function askPlugins(
  config: RuntimeConfig,
  host: HostEnv,
  context: ProcessContext,
  signal?: AbortSignal,
): Promise<RuntimeConfig> {
  const asked = config.foreign.filter((hook) => hook.dialect === 'chibi');
  if (asked.length === 0 && config.imports.length === 0) return config;
  const tell: Tell = (name, message, level = 'warn') => context.emit({ type: 'note', name, level, message });
  const ask = (name: string, exec: ExecConfig) =>
    askSchema({ name, exec }, { config, host, context, tell, signal });
  const declared = new Map(
    await Promise.all(
      asked.map(async (hook) => [hook, await requireSchema(hook, () => ask(hook.name, hook.exec))] as const),
    ),
  );
  const imported = await Promise.all(
    config.imports.map(async (folder) => await readFolder(folder, config, { ask, tell })),
  );
  const own = config.foreign.flatMap((hook): ForeignHookConfig[] => {
    if (hook.dialect !== 'chibi') return [hook];
    const hooks = hooksOf(hook, declared.get(hook) ?? []);
    if (hooks.length === 0) tell(hook.name, 'its --schema registers no hook, so it is never asked');
    return hooks;
  });
  const found = imported.flat();
  const tools = [...config.tools, ...found.flatMap(({ tool }) => tool ?? [])];
  requireUnique(tools);
  return { ...config, tools, foreign: [...own, ...found.flatMap(({ hooks }) => hooks)] };
}

type Tell = (name: string, message: string, level?: 'debug' | 'warn') => void;
type Ask = (name: string, exec: ExecConfig) => Promise<readonly ChibiElement[]>;

interface Asking {
  readonly config: RuntimeConfig;
  readonly host: HostEnv;
  readonly context: ProcessContext;
  readonly tell: Tell;
  readonly signal: AbortSignal | undefined;
}

/** Throws RuntimeError: whatever keeps the plugin from answering, and REPLY_MALFORMED. */
async function askSchema(
  { name, exec }: { readonly name: string; readonly exec: ExecConfig },
  { config, host, context, tell, signal }: Asking,
): Promise<readonly ChibiElement[]> {
  const described = { ...exec, args: ['--schema'], timeoutMs: SCHEMA_TIMEOUT_MS };
  const { binding } = resolveExec({ name, capability: 'tool', exec: described }, config, host);
  const transport = openAlone(binding, context);
  try {
    const env = { CHIBI_HOOK: undefined, CHIBI_TOOL_NAME: undefined };
    const reply = await transport.exchange({ method: '--schema', body: '', ending: '', env }, signal);
    if (reply.via !== 'process') throw new RuntimeError('INTERNAL', 'a plugin is a process');
    const { elements, warnings } = readSchema(reply, context.scrubber);
    for (const warning of warnings) tell(name, warning);
    return elements;
  } finally {
    await transport.close();
  }
}

/** Throws what is wrong with the reply in words that were taken from one without secrets. */
function readSchema(reply: ProcessReply, scrubber: Scrubber = noScrub) {
  try {
    return readSchemaReply(reply);
  } catch (thrown) {
    const hidden = hideInReply(reply, scrubber);
    if (hidden.via === 'process' && hidden !== reply) readSchemaReply(hidden);
    throw scrubError(toRuntimeError(thrown), scrubber);
  }
}

async function requireSchema(
  { name, source }: ChibiHookConfig,
  ask: () => Promise<readonly ChibiElement[]>,
): Promise<readonly ChibiElement[]> {
  try {
    return await ask();
  } catch (thrown) {
    const error = toRuntimeError(thrown);
    if (error.code === 'ABORTED') throw error;
    throw invalid({ ...source, severity: 'error', message: `hooks[${name}]: ${error.message}` });
  }
}

/** One hook for each element that wants to be asked. */
function hooksOf(hook: ChibiHookConfig, elements: readonly ChibiElement[]): ChibiHookConfig[] {
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

interface Found {
  /** Absent where nobody could call it. */
  readonly tool?: ToolConfig;
  readonly hooks: readonly ChibiHookConfig[];
}

/** The plugins of a folder in the order of their names, then of their elements. */
async function readFolder(
  folder: ImportConfig,
  config: RuntimeConfig,
  { ask, tell }: { readonly ask: Ask; readonly tell: Tell },
): Promise<Found[]> {
  const leaveOut = whoLeavesOut(folder, tell);
  const files = findPlugins(folder, { tell, leaveOut });
  const read = await Promise.all(
    files.map(async (file) => {
      const exec = execOf(folder, file);
      const elements = await ask(basename(file), exec).catch((thrown) => {
        const error = toRuntimeError(thrown);
        if (error.code === 'ABORTED') throw error;
        leaveOut(file, `the plugin could not be loaded: ${error.message}`);
        return [];
      });
      return elements.map((element) => toFound(element, { folder, config, exec, file }));
    }),
  );
  return read.flat();
}

type LeaveOut = (place: string, why: string) => void;

/** A plugin that is left out guards nothing: where failures are to deny, that is no warning. */
function whoLeavesOut({ onFailure, position }: ImportConfig, tell: Tell): LeaveOut {
  if (onFailure !== 'deny') return tell;
  return (place, why) => {
    throw invalid({ ...position, severity: 'error', message: `${place}: ${why}`, hint: leftOutHint });
  };
}

const leftOutHint =
  'With `on_failure: deny` no plugin is left out: repair it, or give it a name that ends in `.disabled`.';

interface FoundIn {
  readonly folder: ImportConfig;
  readonly config: RuntimeConfig;
  readonly exec: ExecConfig;
  readonly file: string;
}

function toFound(element: ChibiElement, { folder, config, exec, file }: FoundIn): Found {
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
    ...{ dialect: 'chibi', name: name || basename(file), place: folder.place, exec, settings, source },
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

interface Telling {
  readonly tell: Tell;
  readonly leaveOut: LeaveOut;
}

/** The executables of a folder; what is skipped is told of where nobody could want it. */
function findPlugins({ pluginsDir }: ImportConfig, { tell, leaveOut }: Telling): string[] {
  const root = realpathSync(pluginsDir);
  const names = readdirSync(root, { encoding: 'buffer' }).toSorted(Buffer.compare);
  return names.flatMap((bytes) => {
    const name = bytes.toString();
    const place = join(root, name);
    if (name.endsWith('.disabled')) {
      tell(place, 'the plugin is disabled', 'debug');
      return [];
    }
    const found = findExecutable(place, root);
    if (found.kind === 'plugin') return [found.file];
    if (found.kind === 'no plugin') tell(place, found.why, 'debug');
    else leaveOut(place, found.why);
    return [];
  });
}

type Finding =
  | { readonly kind: 'plugin'; readonly file: string }
  | { readonly kind: 'no plugin' | 'unusable'; readonly why: string };

function findExecutable(place: string, root: string): Finding {
  try {
    const isFolder = statSync(place).isDirectory();
    const file = realpathSync(isFolder ? join(place, basename(place)) : place);
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
    throw invalid({ ...tool.position, severity: 'error', message });
  }
}

function invalid(problem: Problem): RuntimeError {
  const { file, line, column, message } = problem;
  const place = `${file}:${line}:${column}`;
  return new RuntimeError('CONFIG_INVALID', `${place} ${message}`, { details: { problems: [problem] } });
}
