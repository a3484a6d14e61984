import { existsSync, readdirSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { resolve } from 'node:path';
import { type RuntimeError, toRuntimeError } from '../../../base/errors.ts';
import { createExecutableFinder } from '../../../base/files/executable.ts';
import { systemCode } from '../../../base/files/file-error.ts';
import { findInterpreterFault, findLineEndFault } from '../../../base/files/interpreter.ts';
import { findScript, isShell } from '../../../base/files/script.ts';
import { formatCount } from '../../../base/text/phrases.ts';
import type { SourceLocation } from '../../../base/yaml/problem.ts';
import type { ProviderConfig, RuntimeConfig } from '../../../config/config.ts';
import { environmentOf } from '../../../config/environment/read.ts';
import { type LoadedConfig, loadConfig } from '../../../config/load.ts';
import { scrubMembers } from '../../../contract/scrub.ts';
import { readCredential } from '../../../models/open/credential.ts';
import { providerKinds } from '../../../models/open/provider-kinds.ts';
import { mapConcurrently } from '../../../pipelines/run/loops.ts';
import type { Binding, HookEndpoint } from '../../../process/binding.ts';
import { type HostEnv, hostEnv } from '../../../process/env.ts';
import { findPython } from '../../../process/fork/forked.ts';
import { urlForMessages } from '../../../process/http.ts';
import type { Launcher } from '../../../process/launch/launch.ts';
import { openLauncher } from '../../../process/launch/native.ts';
import { acquireWatcher } from '../../../process/launch/process-groups.ts';
import { openGroupMaker } from '../../../process/limits/cgroup.ts';
import type { ProcessLimits } from '../../../process/process-config.ts';
import type { RuntimeOptions } from '../../api-options.ts';
import { tryUsedSandboxes } from '../../binding/sandbox-backends.ts';
import type { ForeignEntry } from '../../foreign-links.ts';
import { createScrubber } from '../../log/scrub.ts';
import { secretsOf } from '../../stages/load.ts';
import { type Entries, resolveEntries } from '../../stages/resolve.ts';
import { type Check, found } from './check.ts';
import { checkMachine } from './machine.ts';
import { checkState } from './state.ts';
import { checkTelemetry } from './telemetry.ts';

export interface DoctorOptions extends Pick<RuntimeOptions, 'env' | 'launcher' | 'overlays'> {
  readonly version: string;
  readonly isNamed: boolean;
}

/**
 * Checks a config and its machine: commands, scripts, variables, store, providers, sandboxes and limits. Starts no
 * command of the config, calls no address and changes nothing. Checks that an invalid config prevents are `not
 * applicable`. Throws FILE_UNREADABLE if a named config cannot be read.
 */
export async function runDoctor(file: string, options: DoctorOptions): Promise<readonly Check[]> {
  const env = options.env ?? hostEnv();
  const read = { env, overlays: options.overlays ?? [] };
  const loaded = options.isNamed || existsSync(file) ? loadConfig(file, env['PATH'] ?? '', read) : undefined;
  const machine = await checkMachine(options.version, env);
  if (loaded === undefined) {
    const hint = 'Name a config, or create one with `signalbox init`.';
    return [
      found('not applicable', { check: 'config', subject: file, message: 'does not exist', hint }),
      ...machine,
    ];
  }
  const { config } = loaded;
  if (config === undefined) return [...problemsOf(file, loaded, []), ...machine];
  const host = environmentOf(config, env);
  const ofConfig = await checkConfig(config, options, host);
  const all = [...problemsOf(file, loaded, ofConfig), ...ofConfig, ...machine];
  return scrubMembers(all, createScrubber(secretsOf(config, host)).values);
}

function problemsOf(file: string, { config, problems }: LoadedConfig, told: readonly Check[]): Check[] {
  const isTold = ({ message, line }: LoadedConfig['problems'][number]) =>
    told.some((check) => check.line === line && message.endsWith(check.message));
  const checks = problems
    .filter((problem) => problem.severity !== 'note' && !isTold(problem))
    .map(({ severity, message, hint, ...place }) =>
      found(severity === 'error' ? 'error' : 'warning', {
        check: 'config',
        subject: file,
        message,
        hint,
        place,
      }),
    );
  if (config === undefined) {
    const message =
      'its entries, state store, providers and sandboxes could not be checked: the config has errors';
    return [...checks, found('not applicable', { check: 'entries', subject: file, message })];
  }
  return checks.length > 0 ? checks : [found('ok', { check: 'config', subject: file, message: 'is valid' })];
}

interface Checked {
  readonly config: RuntimeConfig;
  readonly env: HostEnv;
  readonly entries: Entries;
  readonly processes: readonly ProcessEntry[];
  readonly launch: Launcher;
}

const checks: readonly ((checked: Checked) => readonly Check[] | Promise<readonly Check[]>)[] = [
  ({ processes }) => checkEntries(processes),
  ({ entries }) => checkEndpoints(entries.foreign),
  ({ config }) => config.imports.map(checkPluginFolder),
  ({ config, env, launch }) => checkSandboxes(config, env, launch),
  ({ processes }) => checkLimitMeans(processes),
  ({ config, env }) => checkProviders(config, env),
  ({ config, env }) => checkState(config.stateStore, env),
  async ({ config }) => [await checkListen(config)],
  ({ config, env }) => checkTelemetry(config, env),
];

async function checkConfig(
  config: RuntimeConfig,
  { launcher = 'auto' }: DoctorOptions,
  env: HostEnv,
): Promise<Check[]> {
  const entries = resolveEntries(config, env);
  const launch: Launcher = async (...given) => await (await openLauncher(launcher))(...given);
  const checked = { config, env, entries, processes: processEntries(entries), launch };
  const releaseWatcher = acquireWatcher(() => {});
  try {
    const found: Check[] = [];
    for (const check of checks) found.push(...(await check(checked)));
    return found;
  } finally {
    await releaseWatcher();
  }
}

function checkPluginFolder({ pluginsDir, position: place }: RuntimeConfig['imports'][number]): Check {
  const about = { check: 'plugins', subject: pluginsDir, place };
  try {
    const { length } = readdirSync(pluginsDir);
    return found('ok', {
      ...about,
      message: `${formatCount(length, 'file')}; doctor starts none of them to ask what it is`,
    });
  } catch (thrown) {
    return found('error', { ...about, message: toRuntimeError(thrown).message, hint: 'Correct the path.' });
  }
}

async function checkSandboxes(config: RuntimeConfig, env: HostEnv, launch: Launcher): Promise<Check[]> {
  const used = await tryUsedSandboxes(config, env, launch);
  return used.flatMap(({ config: { name, position: place }, sandbox, fault }) => {
    const about = { check: 'sandbox', subject: name, place };
    if (fault !== undefined) return [found('error', { ...about, message: fault.reason, hint: fault.hint })];
    if (sandbox === null) return [];
    if (sandbox.mode === 'refused') return [found('error', { ...about, message: sandbox.reason })];
    const message =
      sandbox.mode === 'bubblewrap'
        ? `bubblewrap, ${sandbox.program}`
        : `passes its commands to ${sandbox.program}, which doctor does not start`;
    return [found('ok', { ...about, message })];
  });
}

/** Creates and removes a control group to find out how limits are enforced. */
async function checkLimitMeans(entries: readonly ProcessEntry[]): Promise<Check[]> {
  const limited = entries.find(({ binding }) => binding.limits !== null);
  if (limited === undefined) return [];
  const about = { check: 'limits', place: limited.place };
  if (process.platform !== 'linux') {
    const hint = 'Use Linux, or remove `limits` from the entries.';
    return [found('error', { ...about, message: 'limits need Linux', hint })];
  }
  const groups = await openGroupMaker();
  const message =
    groups === undefined
      ? 'enforced by rlimits and by watching the processes: this machine allows no control groups'
      : `enforced by rlimits, and by control groups in ${groups.folders.join(' and ')}`;
  const escapable = entries.find(({ binding: { limits, sandbox } }) => isShared(limits) && sandbox === null);
  const note =
    'without a sandbox, memory_mb and processes cannot bind a hostile process: it can leave its group';
  return [
    found('ok', { ...about, message }),
    ...(escapable === undefined ? [] : [found('ok', { ...about, place: escapable.place, message: note })]),
  ];
}

function isShared(limits: ProcessLimits | null): boolean {
  return limits?.memoryMb !== undefined || limits?.processes !== undefined;
}

const AT_ONCE = 16;

async function checkProviders(config: RuntimeConfig, env: HostEnv): Promise<Check[]> {
  return await mapConcurrently(config.providers, AT_ONCE, async (provider) => {
    const about = { check: 'provider', subject: provider.id, place: provider.position };
    try {
      return found('ok', { ...about, message: await describeProvider(provider, env, config.folder) });
    } catch (thrown) {
      const { message, hint } = hintedError(thrown);
      return found('error', { ...about, message, hint });
    }
  });
}

async function describeProvider(provider: ProviderConfig, env: HostEnv, folder: string): Promise<string> {
  if (provider.refused !== undefined) throw new Error(provider.refused);
  const kind = providerKinds.get(provider.type);
  if (kind === undefined) return `${provider.type} needs no key`;
  const address = kind.baseUrl(provider);
  const sources = { env, folder, variables: kind.keyVariables, required: kind.needsKey };
  const key = await readCredential(provider, sources);
  return `${address}, ${key === undefined ? 'without a key' : 'the key is set'}`;
}

function checkEndpoints(foreign: readonly ForeignEntry[]): Check[] {
  return foreign.flatMap(({ config, resolved: { http, missingEnv } }) => {
    if (http === undefined) return [];
    const about = { check: 'endpoint', subject: `hook ${config.name}`, place: config.source };
    const lacking = missingEnv.map((name) =>
      found('warning', {
        ...about,
        check: 'env',
        message: `the environment has no ${name}`,
        hint: `Set ${name}.`,
      }),
    );
    const isUrl = URL.canParse(http.url);
    const hint = isUrl ? undefined : 'Write `http://` or `https://`, a host and a path.';
    const message = isUrl
      ? 'the address is well-formed; doctor does not call it'
      : 'the address is not a URL';
    return [found(isUrl ? 'ok' : 'error', { ...about, message, hint }), ...lacking];
  });
}

async function checkListen({ gateway }: RuntimeConfig): Promise<Check> {
  const { host, port } = gateway.listen;
  const about = { check: 'gateway', subject: `${host}:${port}` };
  const code = await whyNotListen(host, port);
  if (code === undefined) return found('ok', { ...about, message: 'is free' });
  const message =
    code === 'EADDRINUSE' ? 'is taken: a program already listens there' : `cannot be listened on (${code})`;
  const hint =
    'If that program is not this gateway, choose another address: `serve --listen`, or spec.gateway.listen.';
  return found('warning', { ...about, message, hint });
}

async function whyNotListen(host: string, port: number): Promise<string | undefined> {
  const server = createServer();
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(port, host, resolve);
    });
    return undefined;
  } catch (thrown) {
    return String(systemCode(thrown) ?? 'unknown');
  } finally {
    server.close();
  }
}

function hintedError(thrown: unknown): Pick<RuntimeError, 'message' | 'hint'> {
  const { message, hint } = toRuntimeError(thrown);
  return { message, hint };
}

interface ProcessEntry {
  readonly subject: string;
  readonly place: SourceLocation;
  readonly binding: Binding;
  readonly missingEnv: readonly string[];
}

function processEntries({ tools, evals, hooks, foreign }: Entries): ProcessEntry[] {
  const ofTools = tools.flatMap(({ config, resolved }) =>
    resolved === undefined
      ? []
      : [{ ...resolved, subject: `tool ${config.name}`, place: config.exec?.position ?? config.position }],
  );
  const ofEvals = evals.map(({ config, resolved }) => ({
    ...resolved,
    subject: `eval ${config.name}`,
    place: config.exec.position,
  }));
  const ofHooks = hooks.map(({ config, resolved }) => ({
    ...resolved,
    subject: `hook ${config.name}`,
    place: config.exec.position,
  }));
  const ofForeign = foreign.flatMap(({ config, resolved: { binding, missingEnv } }) =>
    binding === undefined
      ? []
      : [
          {
            binding,
            missingEnv,
            subject: `hook ${config.name}`,
            place: config.exec?.position ?? config.source,
          },
        ],
  );
  return [...ofTools, ...ofEvals, ...ofHooks, ...ofForeign];
}

function checkEntries(entries: readonly ProcessEntry[]): Check[] {
  const findExecutable = createExecutableFinder();
  return entries.flatMap((entry) => [
    checkCommand(entry, findExecutable),
    ...checkScript(entry),
    ...checkEnv(entry),
    ...checkFork(entry),
  ]);
}

function checkCommand(
  { subject, place, binding }: ProcessEntry,
  findExecutable: ReturnType<typeof createExecutableFinder>,
): Check {
  const { command, cwd, env, refused, endpoint } = binding;
  const about = { check: 'command', subject, place };
  if (endpoint !== null) return checkEndpoint(endpoint, { ...about, check: 'endpoint' });
  if (refused !== null) return found('error', { ...about, message: refused });
  if (kindOf(cwd) !== 'folder') {
    const hint = 'The process starts in this folder: create it, or correct `cwd`.';
    return found('error', { ...about, message: `${cwd} is not a folder`, hint });
  }
  try {
    const searchPath = env['PATH'] ?? '';
    const executable = findExecutable(command, cwd, searchPath);
    if (!executable.found)
      return found('error', { ...about, message: executable.reason, hint: executable.hint });
    const fault = findInterpreterFault(executable.path, { cwd, searchPath });
    if (fault !== undefined) return found('error', { ...about, message: fault.reason, hint: fault.hint });
    return found('ok', { ...about, message: executable.leading?.[0] ?? executable.path });
  } catch (thrown) {
    // A script may be executable without being readable.
    const message = `could not be checked: ${thrown instanceof Error ? thrown.message : String(thrown)}`;
    return found('warning', { ...about, message, hint: 'Check the path and its permissions.' });
  }
}

/** Sends no request, because each would be an event. */
function checkEndpoint(
  { url, ca }: HookEndpoint,
  about: Omit<Parameters<typeof found>[1], 'message'>,
): Check {
  if (ca !== null && kindOf(ca) !== 'file') {
    const hint = '`ca` must be a file of certificates in PEM: correct it. Until then every call fails.';
    return found('error', { ...about, message: `${ca} is not a file`, hint });
  }
  const address = urlForMessages(new URL(url));
  return found('ok', {
    ...about,
    message: `${address}: the address is well-formed; doctor does not call it`,
  });
}

function checkScript({ subject, place, binding }: ProcessEntry): Check[] {
  const { command, args, cwd } = binding;
  const index = findScript(command, args);
  const script = index === undefined ? undefined : args[index];
  if (script === undefined) return [];
  const about = { check: 'script', subject, place };
  const path = resolve(cwd, script);
  if (kindOf(path) === 'nothing') {
    const hint = `${command} starts in ${cwd}: correct the path in \`args\`.`;
    return [found('error', { ...about, message: `${path} does not exist`, hint })];
  }
  const fault = isShell(command) ? findLineEndFault(path, command) : undefined;
  if (fault !== undefined) return [found('error', { ...about, message: fault.reason, hint: fault.hint })];
  return [found('ok', { ...about, message: path })];
}

function checkEnv({ subject, place, missingEnv }: ProcessEntry): Check[] {
  return missingEnv.map((name) =>
    found('warning', {
      ...{ check: 'env', subject, place, message: `the environment has no ${name}` },
      hint: `Set ${name}, or remove it from \`env\`; the process starts without it.`,
    }),
  );
}

function checkFork({ subject, place, binding }: ProcessEntry): Check[] {
  if (!binding.isForked) return [];
  const about = { check: 'fork', subject, place };
  const python = findPython(binding);
  if ('reason' in python) {
    const hint = 'It runs as `runtime: exec` instead.';
    return [found('warning', { ...about, message: `cannot be forked: ${python.reason}`, hint })];
  }
  return [found('ok', { ...about, message: `forks ${python.command}` })];
}

function kindOf(path: string): 'folder' | 'file' | 'nothing' {
  try {
    return statSync(path).isDirectory() ? 'folder' : 'file';
  } catch {
    return 'nothing';
  }
}
