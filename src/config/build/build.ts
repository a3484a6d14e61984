import { basename } from 'node:path';
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
  RuntimeConfig,
  ToolConfig,
} from '../config.ts';
import { readSandboxes } from '../sandbox/read.ts';
import { nativeVersion, promptkitVersion } from '../schema/schema.ts';
import { readScript } from '../script/read.ts';
import { readApproval } from './approval.ts';
import { readAgents, readApprovals } from './approvals.ts';
import { readEndpoint } from './endpoint.ts';
import { readDefaults, readExec } from './exec.ts';
import { foreignAt } from './foreign-entries.ts';
import { readGateway } from './gateway.ts';
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
