import { basename, resolve } from 'node:path';
import { isObject } from '../../base/json/json.ts';
import type { Path, YamlDocument } from '../../base/yaml/document.ts';
import { omitUndefined } from '../../base/yaml/present.ts';
import {
  choiceAt,
  entriesAt,
  integerAt,
  itemsAt,
  millisecondsAt,
  nonEmptyTextAt,
  schemaAt,
  textAt,
  valueAt,
} from '../../base/yaml/read.ts';
import { type HookKind, type HookMode, type Phase, phasesOf } from '../../contract/hook.ts';
import { toolDialects } from '../../dialects/registry.ts';
import type {
  EvalConfig,
  ExecConfig,
  HookConfig,
  LoggingConfig,
  ProviderConfig,
  RuntimeConfig,
  ToolConfig,
} from '../config.ts';
import { parseDuration } from '../duration.ts';
import type { GatewayAuditConfig, GatewayConfig, GatewayLimits, GatewayModelConfig } from '../gateway.ts';
import { type ListenAddress, parseListen } from '../listen.ts';
import { readSandboxes } from '../sandbox/read.ts';
import { passableHeaders } from '../schema/gateway.ts';
import { nativeVersion, promptkitVersion } from '../schema/schema.ts';
import { readScript } from '../script/read.ts';
import { readApproval } from './approval.ts';
import { readAgents, readApprovals } from './approvals.ts';
import { readEndpoint } from './endpoint.ts';
import { readDefaults, readExec } from './exec.ts';
import { foreignAt } from './foreign-entries.ts';
import { readMatch, readReach } from './match.ts';
import { readNotify } from './notify.ts';
import { readProviders } from './providers.ts';
import { findSchemaFault, whyRefused, whyToolRefused } from './refused.ts';
import { readStateStore } from './state-store.ts';

/** The RuntimeConfig that a checked document declares; `folder` is absolute. Call it only without errors. */
export function buildConfig(
  document: YamlDocument,
  folder: string,
  foreign: Pick<RuntimeConfig, 'foreign' | 'imports'>,
): RuntimeConfig {
  const spec = ['spec'];
  const providers = readProviders(document);
  return {
    file: document.file,
    folder,
    apiVersion: choiceAt(document, ['apiVersion'], [promptkitVersion]) ?? nativeVersion,
    name: nonEmptyTextAt(document, ['metadata', 'name']) ?? basename(document.file).replace(/\.ya?ml$/, ''),
    providers,
    tools: entriesAt(document, [...spec, 'tools']).map(({ name, path }) => readTool(document, name, path)),
    evals: entriesAt(document, [...spec, 'evals']).map(({ name, path }) => readEval(document, name, path)),
    hooks: entriesAt(document, [...spec, 'hooks']).flatMap(({ name, path }, fileIndex) =>
      foreignAt(document, path) === undefined ? [{ ...readHook(document, name, path), fileIndex }] : [],
    ),
    foreign: foreign.foreign,
    imports: foreign.imports,
    sandboxes: readSandboxes(document),
    ...omitUndefined({
      concurrency: integerAt(document, [...spec, 'concurrency']),
      inFlightMb: integerAt(document, [...spec, 'in_flight_mb']),
      approvals: readApprovals(document),
      agents: readAgents(document),
      notify: readNotify(document),
    }),
    defaults: readDefaults(document),
    stateStore: readStateStore(document, folder),
    gateway: readGateway(document, folder, providers),
    logging: readLogging(document, [...spec, 'logging']),
  };
}

function readTool(document: YamlDocument, name: string, path: Path): ToolConfig {
  const exec = [...path, 'exec'];
  const timeoutMs = millisecondsAt(document, [...path, 'timeout_ms']);
  const refused = whyToolRefused(document, path);
  const idempotent = valueAt(document, [...path, 'idempotent']);
  return {
    name,
    description: textAt(document, [...path, 'description']) ?? '',
    ...omitUndefined({
      inputSchema: readSchema(document, [...path, 'input_schema']),
      outputSchema: readSchema(document, [...path, 'output_schema']),
      exec: isObject(valueAt(document, exec))
        ? { ...readExec(document, exec, { refused, timeoutMs }), ...readToolDialect(document, path) }
        : undefined,
      approval: readApproval(document, path),
      idempotent: typeof idempotent === 'boolean' ? idempotent : undefined,
      category: nonEmptyTextAt(document, [...path, 'category']),
      aliases: readAliases(document, [...path, 'aliases']),
    }),
    position: document.keyPositionOf(path),
  };
}

function readAliases(document: YamlDocument, path: Path): ToolConfig['aliases'] {
  const items = itemsAt(document, path);
  return items.length === 0 ? undefined : items.flatMap((item) => nonEmptyTextAt(document, item) ?? []);
}

/** `dialect` may stand on the tool as well as on its `exec`. */
function readToolDialect(document: YamlDocument, path: Path): Pick<ExecConfig, 'dialect'> {
  const own = choiceAt(document, [...path, 'exec', 'dialect'], toolDialects);
  return { dialect: own ?? choiceAt(document, [...path, 'dialect'], toolDialects) ?? 'promptkit' };
}

function readSchema(document: YamlDocument, path: Path): ToolConfig['inputSchema'] {
  return findSchemaFault(document, path) === undefined ? schemaAt(document, path) : undefined;
}

function readEval(document: YamlDocument, name: string, path: Path): EvalConfig {
  return {
    name,
    exec: {
      ...readExec(document, path, { refused: whyRefused(document, path) }),
      ...readScript(document, path),
    },
    ...omitUndefined({ batch: integerAt(document, [...path, 'batch']) }),
  };
}

function readHook(document: YamlDocument, name: string, path: Path): Omit<HookConfig, 'fileIndex'> {
  const hook = choiceAt(document, [...path, 'hook'], hookKinds) ?? 'provider';
  const endpoint = readEndpoint(document, path);
  return {
    name,
    exec: {
      ...readExec(document, path, { refused: endpoint ? undefined : whyRefused(document, path) }),
      ...(endpoint && { endpoint, position: document.positionOf([...path, 'url']) }),
    },
    hook,
    phases: readPhases(document, [...path, 'phases'], phasesOf[hook]),
    mode: readMode(document, [...path, 'mode'], hook),
    ...omitUndefined({ match: readMatch(document, path), reach: readReach(document, path) }),
    ...(valueAt(document, [...path, 'modifies']) === false && { modifies: false }),
  };
}

const hookKinds = ['provider', 'tool', 'session', 'eval'] as const satisfies readonly HookKind[];

/** Every phase unless the file names some, and names only phases that this kind of hook has. */
function readPhases(document: YamlDocument, path: Path, known: readonly Phase[]): readonly Phase[] {
  const named = itemsAt(document, path).map((item) => choiceAt(document, item, known));
  const asked = known.filter((phase) => named.includes(phase));
  return asked.length === 0 || named.includes(undefined) ? known : asked;
}

function readMode(document: YamlDocument, path: Path, hook: HookKind): HookMode {
  if (hook === 'session' || hook === 'eval') return 'observe';
  return choiceAt(document, path, ['filter', 'observe', 'shadow']) ?? 'filter';
}

function readLogging(document: YamlDocument, path: Path): LoggingConfig {
  const fields = entriesAt(document, [...path, 'commonFields']);
  return {
    level:
      choiceAt(document, [...path, 'defaultLevel'], ['trace', 'debug', 'info', 'warn', 'error']) ?? 'info',
    ...omitUndefined({ format: choiceAt(document, [...path, 'format'], ['text', 'json']) }),
    fields: Object.fromEntries(fields.map((field) => [field.name, textAt(document, field.path) ?? ''])),
  };
}

const at = (...keys: readonly string[]): Path => ['spec', 'gateway', ...keys];

/** The gateway that a checked document declares; `folder` is absolute. */
function readGateway(
  document: YamlDocument,
  folder: string,
  providers: readonly ProviderConfig[],
): GatewayConfig {
  const required = valueAt(document, at('keys', 'required'));
  return {
    listen: parseListen(nonEmptyTextAt(document, at('listen')) ?? '') ?? usualAddress,
    models: readModels(document, providers),
    hooks: new Map(entriesAt(document, at('hooks')).map(({ name, path }) => [name, textsAt(document, path)])),
    onDeny: choiceAt(document, at('on_deny'), ['error', 'answer']) ?? 'error',
    stream: choiceAt(document, at('stream'), ['hold', 'windowed']) ?? 'hold',
    window: integerAt(document, at('window')) ?? 200,
    judge: new Map(
      entriesAt(document, at('judge')).map(({ name, path }) => [
        name,
        choiceAt(document, path, ['all', 'new']) ?? 'all',
      ]),
    ),
    opaque: textsAt(document, at('opaque')),
    references: textsAt(document, at('references')),
    redactsEmbeddings: isTrueAt(document, at('embeddings', 'redact')),
    tools: {
      hooks: isTrueAt(document, at('tools', 'hooks')),
      pending: choiceAt(document, at('tools', 'pending'), ['hold', 'refuse']) ?? 'refuse',
      holdMs: millisecondsAt(document, at('tools', 'hold_ms')) ?? 120_000,
    },
    passThrough: passableHeaders.filter((name) => textsAt(document, at('pass_through')).includes(name)),
    forwardHeaders: textsAt(document, at('forward_headers')).map((name) => name.toLowerCase()),
    limits: readLimits(document),
    requiresKeys: typeof required === 'boolean' ? required : undefined,
    audit: readAudit(document, folder),
    drainMs: millisecondsAt(document, at('drain_ms')) ?? 30_000,
  };
}

function readModels(
  document: YamlDocument,
  providers: readonly ProviderConfig[],
): readonly GatewayModelConfig[] | undefined {
  if (!isObject(valueAt(document, at('models')))) return undefined;
  return entriesAt(document, at('models')).map(({ name, path }) => {
    const provider = nonEmptyTextAt(document, [...path, 'provider']) ?? '';
    const own = providers.find(({ id }) => id === provider)?.model ?? name;
    return { name, provider, model: nonEmptyTextAt(document, [...path, 'model']) ?? own };
  });
}

function readLimits(document: YamlDocument): GatewayLimits {
  const limit = (key: string, usual: number) => integerAt(document, at('limits', key)) ?? usual;
  const time = (key: string, usual: number) => millisecondsAt(document, at('limits', key)) ?? usual;
  return {
    bodyBytes: limit('body_bytes', 32 * MiB),
    answerBytes: limit('answer_bytes', 64 * MiB),
    depth: limit('depth', 128),
    headersMs: time('headers_ms', 15_000),
    requestMs: time('request_ms', 60_000),
    upstreamMs: time('upstream_ms', 300_000),
    answerMs: time('answer_ms', 3_600_000),
    idleMs: time('idle_ms', 120_000),
    connections: limit('connections', 8192),
    heldBytes: limit('held_bytes', 16 * MiB),
    totalHeldBytes: limit('total_held_bytes', 512 * MiB),
  };
}

const usualAddress: ListenAddress = { host: '127.0.0.1', port: 8787 };

const MiB = 1024 * 1024;

function readAudit(document: YamlDocument, folder: string): GatewayAuditConfig | undefined {
  if (!isObject(valueAt(document, at('audit')))) return undefined;
  const durationAt = (path: Path) => parseDuration(nonEmptyTextAt(document, path) ?? '');
  const file = nonEmptyTextAt(document, at('audit', 'head', 'file'));
  const hasHead = isObject(valueAt(document, at('audit', 'head')));
  return {
    required: valueAt(document, at('audit', 'required')) !== false,
    content: isTrueAt(document, at('audit', 'content')),
    ...omitUndefined({ keyEnv: nonEmptyTextAt(document, at('audit', 'key_env')) }),
    keepMs: durationAt(at('audit', 'keep')) ?? 30 * 86_400_000,
    ...(hasHead && {
      head: {
        ...omitUndefined({ file: file === undefined ? undefined : resolve(folder, file) }),
        stdout: isTrueAt(document, at('audit', 'head', 'stdout')),
        everyMs: durationAt(at('audit', 'head', 'every')) ?? 60_000,
      },
    }),
  };
}

function textsAt(document: YamlDocument, path: Path): string[] {
  return itemsAt(document, path).flatMap((item) => nonEmptyTextAt(document, item) ?? []);
}

function isTrueAt(document: YamlDocument, path: Path): boolean {
  return valueAt(document, path) === true;
}
