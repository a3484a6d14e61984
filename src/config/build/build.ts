import { basename } from 'node:path';
import type { Path, YamlDocument } from '../../base/yaml/document.ts';
import { readFields } from '../../base/yaml/fields.ts';
import { choiceAt, entriesAt, integerAt, itemsAt, nonEmptyTextAt, valueAt } from '../../base/yaml/read.ts';
import { omitUndefined } from '../../base/yaml/wording.ts';
import { type HookKind, type HookMode, type Phase, phasesOf } from '../../contract/hook.ts';
import { readApprovals } from '../approval.ts';
import type { EvalConfig, HookConfig, RuntimeConfig } from '../config.ts';
import { foreignAt, readExec } from '../exec.ts';
import { readGateway } from '../gateway.ts';
import { readEndpoint, readMatch, readReach } from '../hook.ts';
import { readMcpServers } from '../mcp-servers.ts';
import { readNotify } from '../notify.ts';
import { readProviders } from '../provider.ts';
import { readSandboxes } from '../sandbox/read.ts';
import { nativeVersion, promptkitVersion, settingKeys } from '../schema.ts';
import { readScript } from '../script.ts';
import { readStateStore } from '../store.ts';
import { readTools } from '../tool.ts';
import { whyRefused } from './refused.ts';

/** Builds the RuntimeConfig of a document without errors; `folder` is absolute. */
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
    tools: readTools(document),
    evals: entriesAt(document, [...spec, 'evals']).map(({ name, path }) => readEval(document, name, path)),
    hooks: entriesAt(document, [...spec, 'hooks']).flatMap(({ name, path }, fileIndex) =>
      foreignAt(document, path) === undefined ? [{ ...readHook(document, name, path), fileIndex }] : [],
    ),
    foreign: foreign.foreign,
    imports: foreign.imports,
    sandboxes: readSandboxes(document),
    ...omitUndefined({
      approvals: readApprovals(document),
      notify: readNotify(document),
      mcpServers: readMcpServers(document),
    }),
    ...readFields(document, spec, settingKeys),
    stateStore: readStateStore(document, folder),
    gateway: readGateway(document, folder, providers),
  };
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

/** Returns every phase unless the file names some, and ignores phases of other kinds. */
function readPhases(document: YamlDocument, path: Path, known: readonly Phase[]): readonly Phase[] {
  const named = itemsAt(document, path).map((item) => choiceAt(document, item, known));
  const asked = known.filter((phase) => named.includes(phase));
  return asked.length === 0 || named.includes(undefined) ? known : asked;
}

function readMode(document: YamlDocument, path: Path, hook: HookKind): HookMode {
  if (hook === 'session' || hook === 'eval') return 'observe';
  return choiceAt(document, path, ['filter', 'observe', 'shadow']) ?? 'filter';
}
